"""IBM's Watson Speech to Text: results, alone or inside a job's; speakers are joined to the words by their times.

Source: cloud.ibm.com/docs/speech-to-text. A word is [text, start, end], times in seconds.
"""

from collections.abc import Iterator

from pydantic import Field

from pipeline.domain.documents import Turn
from pipeline.transcripts import words
from pipeline.transcripts.source import Parsed, Source
from pipeline.transcripts.stretches import Stretches
from pipeline.transcripts.vendor import Label, Many, Seconds, Shape, Words, read_as, turn

NAME = "ibm_watson"


class _Alternative(Shape):
    transcript: Words = ""
    timestamps: Many[tuple[Words, Seconds, Seconds]] = ()


class _Result(Shape):
    alternatives: Many[_Alternative] = ()


class _Speaker(Shape):
    speaker: Label = None
    start: Seconds = Field(None, alias="from")


class _Recognition(Shape):
    results: Many[_Result] = ()
    speaker_labels: Many[_Speaker] = ()


class _Job(Shape):
    results: Many[_Recognition] = ()


def recognises(source: Source) -> bool:
    """Whether results say if they are final, and have transcripts."""
    return _holds(source) or _holds(source, "results", 0)


def parse(source: Source) -> Parsed:
    """A turn for each result, or, where there are speakers, for each of them in turn."""
    job = {"results": [source.json]} if _holds(source) else source.json
    read, doubts = read_as(_Job, job, "IBM")
    return Parsed([turn for recognition in read.results for turn in _turns(recognition)], doubts)


def _holds(source: Source, *path: str | int) -> bool:
    return isinstance(source.at(*path, "results", 0, "final"), bool) and isinstance(
        source.at(*path, "results", 0, "alternatives", 0, "transcript"), str
    )


def _turns(recognition: _Recognition) -> Iterator[Turn]:
    found = [result.alternatives[0] for result in recognition.results if result.alternatives]
    if recognition.speaker_labels:
        speakers = Stretches((label.start, label.speaker) for label in recognition.speaker_labels)
        yield from words.turns(word for best in found for word in _words(best, speakers))
        return
    for best in found:
        start, end = (best.timestamps[0][1], best.timestamps[-1][2]) if best.timestamps else (None, None)
        yield turn(best.transcript, None, start, end)


def _words(best: _Alternative, speakers: Stretches) -> Iterator[words.Word]:
    if not best.timestamps:
        yield words.Word(best.transcript.strip())
    for text, start, end in best.timestamps:
        yield words.Word(text, speakers.speaker_at(start), start, end)
