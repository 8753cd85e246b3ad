"""What a reader of one format gets, and what it gives back."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple, Protocol, TypeVar

from pipeline.domain.documents import Turn, Warning
from pipeline.errors import ItemFailure
from pipeline.transcripts.decoding import Decoded, decode
from pipeline.transcripts.docx import Docx, read_docx
from pipeline.transcripts.json_text import value_of

#: What a file may be that is no call.
CHAT = "a chat"
SUMMARY = "a summary that a model wrote"

#: So many characters show what a text is: a preamble longer than this is not one.
TOP = 65_536

#: A day of speech has about 20,000 turns; more than this is not a call, and would fill the memory.
MAX_TURNS = 200_000

_T = TypeVar("_T")


@dataclass(frozen=True)
class Source:
    """The bytes of one file. A format that is JSON looks at `json`, other text at `text`, tables in Word at `docx`."""

    data: bytes
    #: Names of the speakers whom the file knows by ids only, from a file beside it.
    names: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def docx(self) -> Docx | None:
        """The Word document that the bytes are, else None.

        Raises ItemFailure(unreadable_input) where they are another archive, or broken, or larger than any call.
        """
        return read_docx(self.data)

    @cached_property
    def decoded(self) -> Decoded:
        """The text, a Word document's too. Raises ItemFailure(unreadable_input) where the bytes are not text."""
        return decode(self.data) if self.docx is None else Decoded(self.docx.text, "docx", lossy=False)

    @cached_property
    def text(self) -> str:
        """The text with every line end as a line feed."""
        text = self.decoded.text
        return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text

    @property
    def top(self) -> str:
        """The beginning of the text, which shows what it is."""
        return self.text[:TOP]

    @cached_property
    def json(self) -> Any:
        """The object or list that the text is in JSON, else None.

        Raises ItemFailure(unreadable_input) where it begins as JSON and cannot be read.
        """
        return value_of(self.text)

    def at(self, *path: str | int) -> Any:
        """The JSON value at a path of keys and places in lists; None where there is none."""
        value = self.json
        for step in path:
            if isinstance(step, str):
                value = value.get(step) if isinstance(value, dict) else None
            else:
                value = value[step] if isinstance(value, list) and step < len(value) else None
        return value


class Parsed(NamedTuple):
    """The turns in the source's order, and what a reader of the row should know about them."""

    turns: list[Turn]
    warnings: tuple[Warning, ...] = ()
    #: What it is instead of a call (CHAT, SUMMARY), where it is none.
    instead: str | None = None
    #: A text inside the file, to be read as a file of its own, where the turns are there.
    within: str | None = None


class Format(Protocol):
    """A module that reads one format."""

    NAME: str

    def recognises(self, source: Source) -> bool:
        """Whether the content, never the file's name, is of this format."""

    def parse(self, source: Source) -> Parsed:
        """All turns. Raises ItemFailure where the content cannot be read."""


def bounded(turns: Iterable[_T]) -> Iterator[_T]:
    """The same turns or cues; raises ItemFailure(unreadable_input) when they are more than any call has."""
    following = iter(turns)
    yield from islice(following, MAX_TURNS)
    for _ in following:
        raise too_many_turns()


def too_many_turns() -> ItemFailure:
    """The fault of a document with more turns than any call has."""
    return ItemFailure("unreadable_input", f"more than {MAX_TURNS:,} turns: submit one call per document")
