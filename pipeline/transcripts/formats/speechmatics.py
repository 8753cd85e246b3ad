"""Speechmatics' transcripts: words and punctuation with a speaker each, "UU" where it knows none. Times in seconds.

Source: docs.speechmatics.com, batch output. Its first format gives words and speakers apart, to be joined by their
times, which are text; a full stop is a word there (samples of bbc/react-transcript-editor).
"""

from collections.abc import Iterable, Iterator

from pipeline.transcripts import words
from pipeline.transcripts.answers import speech
from pipeline.transcripts.moments import after
from pipeline.transcripts.source import Parsed, Source
from pipeline.transcripts.stretches import Stretches
from pipeline.transcripts.vendor import Label, Many, Seconds, Shape, Words, of_channels, read_as

NAME = "speechmatics"

#: Changes of speakers and the like may stand before the first word.
_FIRST_FEW = 10
_UNKNOWN = "UU"
#: Words of the first format that stand at the word before them.
_POINTS = frozenset(".,!?;:")


class _Alternative(Shape):
    content: Words = ""
    speaker: Label = None


class _Result(Shape):
    type: str = ""
    start_time: Seconds = None
    end_time: Seconds = None
    attaches_to: str | None = None
    channel: str | None = None
    alternatives: Many[_Alternative] = ()


class _Transcript(Shape):
    results: Many[_Result] = ()


class _FirstWord(Shape):
    name: Words = ""
    time: Seconds = None
    duration: Seconds = None


class _FirstSpeaker(Shape):
    name: Label = None
    time: Seconds = None


class _FirstTranscript(Shape):
    words: Many[_FirstWord] = ()
    speakers: Many[_FirstSpeaker] = ()


def recognises(source: Source) -> bool:
    """Whether results have a type and content, or words a name and a time."""
    result, word = source.at("results", 0), source.at("words", 0)
    if isinstance(result, dict) and "type" in result:
        return any(source.at("results", place, "alternatives", 0, "content") is not None for place in range(_FIRST_FEW))
    return isinstance(word, dict) and {"name", "time"} <= word.keys()


def parse(source: Source) -> Parsed:
    """The words by their speakers; where channels were told apart, these tell who speaks."""
    if source.at("words"):
        return _first_format(source)
    transcript, doubts = read_as(_Transcript, source.json, "Speechmatics")
    channels: dict[str | None, list[_Result]] = {}
    for result in transcript.results:
        channels.setdefault(result.channel, []).append(result)
    found = ((channel or "", each) for channel, results in channels.items() for each in words.turns(_words(results)))
    return speech(of_channels(found), doubts, {name: source.at(name) for name in ("summary", "chapters")})


def _words(results: Iterable[_Result]) -> Iterator[words.Word]:
    opened = False
    for result in results:
        if not result.alternatives:
            continue
        best = result.alternatives[0]
        attaches = result.attaches_to or ("previous" if result.type == "punctuation" else "none")
        glued = opened or attaches in ("previous", "both")
        yield words.Word(best.content, _known(best.speaker), result.start_time, result.end_time, glued)
        opened = attaches in ("next", "both")


def _first_format(source: Source) -> Parsed:
    transcript, doubts = read_as(_FirstTranscript, source.json, "Speechmatics")
    speakers = Stretches((each.time, _known(each.name)) for each in transcript.speakers)
    spoken = (
        words.Word(
            each.name, speakers.speaker_at(each.time), each.time, after(each.time, each.duration), each.name in _POINTS
        )
        for each in transcript.words
    )
    return Parsed(list(words.turns(spoken)), doubts)


def _known(speaker: str | None) -> str | None:
    return words.NOBODY if speaker == _UNKNOWN else speaker
