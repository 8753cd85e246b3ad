"""Gecko's transcripts, the editor of gong-io: monologues of terms. Times in seconds.

Source: github.com/gong-io/gecko. A monologue's speaker has a name and an id, and the id is often the name.
"""

from pydantic import Field

from pipeline.domain.documents import Turn
from pipeline.transcripts import words
from pipeline.transcripts.source import Parsed, Source
from pipeline.transcripts.vendor import Label, Many, Seconds, Shape, Words, read_as

NAME = "gecko"


class _Term(Shape):
    text: Words = ""
    type: str = ""
    start: Seconds = None
    end: Seconds = None


class _Speaker(Shape):
    id: Label = None
    name: Label = None


class _Monologue(Shape):
    speaker: _Speaker | None = None
    terms: Many[_Term] = Field(())


class _Transcript(Shape):
    monologues: Many[_Monologue] = ()


def recognises(source: Source) -> bool:
    """Whether there are monologues of terms."""
    return isinstance(source.at("monologues", 0, "terms"), list)


def parse(source: Source) -> Parsed:
    """A turn for each monologue in which anything is said."""
    transcript, doubts = read_as(_Transcript, source.json, "Gecko")
    return Parsed([_turn(monologue) for monologue in transcript.monologues if monologue.terms], doubts)


def _turn(monologue: _Monologue) -> Turn:
    speaker = (monologue.speaker.name or monologue.speaker.id) if monologue.speaker else None
    return words.one_turn(
        [
            words.Word(term.text, speaker, term.start, term.end, glued=term.type == "PUNCTUATION")
            for term in monologue.terms
        ]
    )
