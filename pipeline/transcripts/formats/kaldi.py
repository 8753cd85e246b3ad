"""The BBC's Kaldi: words with times, and the speakers of a segmentation joined to them. Times in seconds.

Source: samples of bbc/react-transcript-editor. `punct` is the word as it is written, `word` as it was heard.
"""

from typing import Any

from pydantic import Field

from pipeline.transcripts import words
from pipeline.transcripts.source import Parsed, Source
from pipeline.transcripts.stretches import Stretches
from pipeline.transcripts.vendor import Label, Many, Seconds, Shape, Words, read_as

NAME = "kaldi"


class _Word(Shape):
    word: Words = ""
    punct: Words = ""
    start: Seconds = None
    end: Seconds = None


class _Speaker(Shape):
    id: Label = Field(None, alias="@id")


class _Segment(Shape):
    start: Seconds = None
    speaker: _Speaker = _Speaker()


class _Segmentation(Shape):
    segments: Many[_Segment] = ()


class _Transcript(Shape):
    words: Many[_Word] = ()
    segmentation: _Segmentation | None = None


def recognises(source: Source) -> bool:
    """Whether words have a punctuated form, as it is or inside a job's answer."""
    first = _transcript(source).get("words")
    return (
        isinstance(first, list) and bool(first) and isinstance(first[0], dict) and {"word", "punct"} <= first[0].keys()
    )


def parse(source: Source) -> Parsed:
    """The words by their speakers."""
    transcript, doubts = read_as(_Transcript, _transcript(source), "Kaldi")
    segments = transcript.segmentation.segments if transcript.segmentation else ()
    speakers = Stretches((segment.start, segment.speaker.id) for segment in segments)
    spoken = (
        words.Word(each.punct or each.word, speakers.speaker_at(each.start), each.start, each.end)
        for each in transcript.words
    )
    return Parsed(list(words.turns(spoken)), doubts)


def _transcript(source: Source) -> dict[str, Any]:
    answer = source.at("retval") or source.json
    return answer if isinstance(answer, dict) else {}
