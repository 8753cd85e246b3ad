"""What a reader of one format gets, and what it gives back."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol, TypeVar

from pipeline.domain.documents import Turn, Warning
from pipeline.errors import ItemFailure
from pipeline.transcripts.decoding import Decoded, decode

#: A day of speech has about 20,000 turns; more than this is not a call, and would fill the memory.
MAX_TURNS = 200_000

_T = TypeVar("_T")


@dataclass(frozen=True)
class Source:
    """The bytes of one file. A format that is text looks at `text`, one that is not at `data`."""

    data: bytes

    @cached_property
    def decoded(self) -> Decoded:
        """Raises ItemFailure(unreadable_input) where the bytes are not text."""
        return decode(self.data)

    @cached_property
    def text(self) -> str:
        """The text with every line end as a line feed."""
        text = self.decoded.text
        return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


class Parsed(NamedTuple):
    """The turns in the source's order, and what a reader of the row should know about them."""

    turns: list[Turn]
    warnings: tuple[Warning, ...] = ()


class Format(Protocol):
    """A module that reads one format."""

    NAME: str

    def recognises(self, source: Source) -> bool:
        """Whether the content, never the file's name, is of this format."""

    def parse(self, source: Source) -> Parsed:
        """All turns. Raises ItemFailure where the content cannot be read."""


def bounded(turns: Iterable[_T]) -> Iterator[_T]:
    """The same turns or cues; raises ItemFailure(unreadable_input) when they are more than any call has."""
    for count, turn in enumerate(turns):
        if count >= MAX_TURNS:
            raise too_many_turns()
        yield turn


def too_many_turns() -> ItemFailure:
    """The fault of a document with more turns than any call has."""
    return ItemFailure("unreadable_input", f"more than {MAX_TURNS:,} turns: submit one call per document")
