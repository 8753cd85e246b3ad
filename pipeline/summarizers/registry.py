"""One table of summarizers by the name that a profile uses."""

from collections.abc import Callable

from pipeline.errors import NotFound
from pipeline.settings import Settings
from pipeline.summarizers.extractive.summarizer import Extractive
from pipeline.summarizers.port import Summarizer
from pipeline.summarizers.scripted import Scripted

_MAKERS: dict[str, Callable[[Settings], Summarizer]] = {
    "extractive": lambda _settings: Extractive(),
    "scripted": lambda settings: Scripted(settings.script),
}


def summarizer(name: str, settings: Settings) -> Summarizer:
    """The summarizer by its name; make it once per process. Raises NotFound with the known names."""
    if name not in _MAKERS:
        raise NotFound("summarizer", name, sorted(_MAKERS))
    return _MAKERS[name](settings)
