"""Rev's transcripts: monologues of elements, whose blanks are elements of their own.

Source: docs.rev.ai, transcript object. Times are seconds (`ts`), or clock times where people transcribed (`timestamp`).
"""

from collections.abc import Iterator, Sequence

from pydantic import AliasChoices, Field

from pipeline.domain.documents import Turn
from pipeline.transcripts.moments import ClockTime
from pipeline.transcripts.source import Parsed, Source
from pipeline.transcripts.vendor import Label, Many, Shape, Words, read_as, turn

NAME = "rev"


class _Element(Shape):
    type: str = ""
    value: Words = ""
    start: ClockTime = Field(None, validation_alias=AliasChoices("ts", "timestamp"))
    end: ClockTime = Field(None, validation_alias=AliasChoices("end_ts", "end_timestamp"))


class _Monologue(Shape):
    speaker: Label = None
    elements: Many[_Element] = ()


class _Speaker(Shape):
    id: Label = None
    name: Label = None


class _Transcript(Shape):
    monologues: Many[_Monologue] = ()
    speakers: Many[_Speaker] = ()


def recognises(source: Source) -> bool:
    """Whether there are monologues of elements, or none at all."""
    monologues = source.at("monologues")
    return isinstance(monologues, list) and (not monologues or source.at("monologues", 0, "elements") is not None)


def parse(source: Source) -> Parsed:
    """A turn for each monologue."""
    transcript, doubts = read_as(_Transcript, source.json, "Rev")
    names = {speaker.id: speaker.name for speaker in transcript.speakers}
    return Parsed([_turn(each, names.get(each.speaker) or each.speaker) for each in transcript.monologues], doubts)


def _turn(monologue: _Monologue, speaker: str | None) -> Turn:
    start = next((each.start for each in monologue.elements if each.start is not None), None)
    end = next((each.end for each in reversed(monologue.elements) if each.end is not None), None)
    return turn("".join(_pieces(monologue.elements)), speaker, start, end)


def _pieces(elements: Sequence[_Element]) -> Iterator[str]:
    """The values; without punctuation Rev leaves the blanks out too."""
    apart = True
    for element in elements:
        is_word = element.type != "punct"
        yield element.value if apart or not is_word else f" {element.value}"
        apart = not is_word
