"""What a person or a script sees. Answers go to standard output; notes, bars and errors to standard error."""

import sys
from collections.abc import Iterable
from typing import Any, Final

import typer
from pydantic_core import to_json
from rich.console import Console
from rich.table import Table
from rich.text import Text

_LONGEST_CELL: Final = 48
_WIDE: Final = 200


def answer(value: Any) -> None:
    """The one JSON value of `--json`."""
    typer.echo(to_json(value, indent=2))


def line(text: str = "") -> None:
    """One line of the answer."""
    typer.echo(plain(text))


def note(text: str) -> None:
    """One line beside the answer."""
    typer.echo(plain(text), err=True)


def table(headings: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """A table of the answer; long values are shortened."""
    grid = Table(*headings, header_style="bold", box=None, pad_edge=False)
    for row in rows:
        grid.add_row(*(_cell(value) for value in row))
    # In a pipe or a log nobody's window is 80 wide.
    Console(highlight=False, width=None if sys.stdout.isatty() else _WIDE).print(grid)


def plain(text: str) -> str:
    """The text without what could steer a terminal: names come from files, and files from anywhere."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text)


def _cell(value: object) -> Text:
    text = "" if value is None else plain(str(value))
    if len(text) > _LONGEST_CELL:
        text = f"{text[: _LONGEST_CELL // 2 - 1]}…{text[-_LONGEST_CELL // 2 :]}"
    return Text(text, overflow="fold")
