"""The prompts, a folder of files for each version. A version never changes: what a checkpoint holds was made by it."""

from functools import cache
from importlib import resources
from string import Template
from typing import Final

VERSION: Final = "v1"


@cache
def template(name: str) -> Template:
    """The prompt `name` of the current version."""
    return Template(resources.files(__name__).joinpath(VERSION, f"{name}.txt").read_text("utf-8").strip())
