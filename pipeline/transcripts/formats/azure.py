"""Azure's batch transcription (recognizedPhrases) and fast transcription (phrases).

Source: learn.microsoft.com/azure/ai-services/speech-service. Offsets come in ticks of 100 ns, as ISO 8601 durations or
in milliseconds; the phrases of each channel stand together, so that they are sorted by their offsets here.
"""

from pydantic import AliasChoices, Field

from pipeline.domain.documents import Turn
from pipeline.transcripts.moments import Duration, after
from pipeline.transcripts.source import Parsed, Source
from pipeline.transcripts.vendor import (
    Label,
    Many,
    Milliseconds,
    Shape,
    Ticks,
    Words,
    in_order,
    of_channels,
    read_as,
    turn,
)

NAME = "azure"


class _Reading(Shape):
    confidence: float | None = None
    display: Words = ""
    masked_itn: Words = Field("", alias="maskedITN")
    itn: Words = ""
    lexical: Words = ""
    #: Where versions before 3.1 name the speaker.
    speaker: Label = None

    @property
    def text(self) -> str:
        """The form that is nearest to what one would write."""
        return self.display or self.masked_itn or self.itn or self.lexical


class _Phrase(Shape):
    channel: int | None = None
    speaker: Label = None
    readings: Many[_Reading] = Field((), alias="nBest")
    #: Fast transcription has one reading only.
    text: Words = ""
    offset: Duration = None
    duration: Duration = None
    offset_ticks: Ticks = Field(None, alias="offsetInTicks")
    duration_ticks: Ticks = Field(None, alias="durationInTicks")
    offset_ms: Milliseconds = Field(None, alias="offsetMilliseconds")
    duration_ms: Milliseconds = Field(None, alias="durationMilliseconds")


class _Whole(Shape):
    """All that was said on one channel."""

    channel: int | None = None
    text: Words = Field("", validation_alias=AliasChoices("display", "text"))


class _Result(Shape):
    phrases: Many[_Phrase] = Field((), validation_alias=AliasChoices("recognizedPhrases", "phrases"))
    wholes: Many[_Whole] = Field((), validation_alias=AliasChoices("combinedRecognizedPhrases", "combinedPhrases"))


def recognises(source: Source) -> bool:
    """Whether phrases stand beside their whole, by the one name or the other."""
    return any(isinstance(source.at(key), list) for key in ("combinedRecognizedPhrases", "recognizedPhrases")) or (
        isinstance(source.at("combinedPhrases"), list) and isinstance(source.at("phrases"), list)
    )


def parse(source: Source) -> Parsed:
    """A turn for each phrase that was understood; where several channels were recorded, these tell who speaks."""
    result, doubts = read_as(_Result, source.json, "Azure")
    phrases = [phrase for phrase in result.phrases if phrase.readings or phrase.text]
    if phrases:
        return Parsed(in_order(of_channels((_channel(phrase.channel), _turn(phrase)) for phrase in phrases)), doubts)
    wholes = ((_channel(each.channel), turn(each.text, None, None, None)) for each in result.wholes)
    return Parsed(of_channels(wholes), doubts)


def _channel(number: int | None) -> str:
    return f"Channel {number or 0}"


def _turn(phrase: _Phrase) -> Turn:
    readings = [reading for reading in phrase.readings if reading.text]
    best = max(readings, key=lambda reading: reading.confidence or 0.0, default=_Reading(display=phrase.text))
    return turn(best.text, phrase.speaker or best.speaker, *_times(phrase))


def _times(phrase: _Phrase) -> tuple[float | None, float | None]:
    start = _first(phrase.offset_ticks, phrase.offset, phrase.offset_ms)
    length = _first(phrase.duration_ticks, phrase.duration, phrase.duration_ms)
    return start, after(start, length)


def _first(*times: float | None) -> float | None:
    return next((time for time in times if time is not None), None)
