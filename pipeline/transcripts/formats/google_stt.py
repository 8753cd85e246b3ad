"""Google's Speech-to-Text, v1 and v2: results, alone or as the `response` of an operation.

Source: docs.cloud.google.com/speech-to-text, RecognizeResponse and BatchRecognizeResults. Times are "1.300s" or
{"seconds": "1", "nanos": 300000000}. With diarization the last result of v1 repeats every word, and it alone has tags.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from pydantic import AliasChoices, BeforeValidator, Field

from pipeline.domain.documents import Turn
from pipeline.transcripts import words
from pipeline.transcripts.moments import Duration
from pipeline.transcripts.source import Parsed, Source
from pipeline.transcripts.vendor import Label, Many, Shape, Words, of_channels, read_as, turn

NAME = "google_stt"

#: What a response without any speech holds: nothing but these, and one of the first three.
_TELLING = {"results", "totalBilledTime", "@type"}
_KEYS = {*_TELLING, "requestId", "metadata"}


def _tag(given: Any) -> Any:
    """No tag is written as 0."""
    return given or None


class _Word(Shape):
    word: Words = ""
    start: Duration = Field(None, validation_alias=AliasChoices("startTime", "startOffset", "start_time"))
    end: Duration = Field(None, validation_alias=AliasChoices("endTime", "endOffset", "end_time"))
    speaker: Annotated[Label, BeforeValidator(_tag)] = Field(
        None, validation_alias=AliasChoices("speakerLabel", "speakerTag", "speaker_tag")
    )


class _Alternative(Shape):
    transcript: Words = ""
    words: Many[_Word] = ()


class _Result(Shape):
    alternatives: Many[_Alternative] = ()
    channel: int | None = Field(None, validation_alias=AliasChoices("channelTag", "channel_tag"))
    end: Duration = Field(None, validation_alias=AliasChoices("resultEndTime", "resultEndOffset", "result_end_time"))

    @property
    def words(self) -> tuple[_Word, ...]:
        """Those of the likeliest reading."""
        return self.alternatives[0].words if self.alternatives else ()

    @property
    def is_diarized(self) -> bool:
        """Whether its words have speakers."""
        return any(word.speaker for word in self.words)


class _Response(Shape):
    results: Many[_Result] = ()


def recognises(source: Source) -> bool:
    """Whether results have alternatives with a transcript or words."""
    response = _response(source)
    if not isinstance(response, dict):
        return False
    results = response.get("results") or []
    if not results:
        return _KEYS.issuperset(response) and not _TELLING.isdisjoint(response)
    return isinstance(results, list) and any(map(_is_speech, results[:10]))


def parse(source: Source) -> Parsed:
    """A turn for each result, or for each speaker in it; several channels tell who speaks."""
    response, doubts = read_as(_Response, _response(source), "Google")
    found = ((_channel(result), each) for result in _said_once(response.results) for each in _turns(result))
    return Parsed(of_channels(found), doubts)


def _response(source: Source) -> Any:
    return source.json if source.at("response") is None else source.at("response")


def _is_speech(result: Any) -> bool:
    alternatives = result.get("alternatives") if isinstance(result, dict) else None
    best = alternatives[0] if isinstance(alternatives, list) and alternatives else None
    return isinstance(best, dict) and ("transcript" in best or "words" in best)


def _said_once(results: Sequence[_Result]) -> Sequence[_Result]:
    """The last result alone where it has speakers, no other one has, and it says what they say."""
    *earlier, last = results or (_Result(),)
    if not last.is_diarized or any(result.is_diarized for result in earlier):
        return results
    said = [word for result in earlier for word in _said(result)]
    repeats = not said or (said[0].startswith(last.words[0].word) and 2 * len(last.words) >= len(said))
    return (last,) if repeats else results


def _said(result: _Result) -> list[str]:
    return [word.word for word in result.words] or _transcript(result).split()


def _transcript(result: _Result) -> str:
    return result.alternatives[0].transcript if result.alternatives else ""


def _channel(result: _Result) -> str:
    return f"Channel {result.channel}" if result.channel else ""


def _turns(result: _Result) -> Iterator[Turn]:
    spoken = [words.Word(word.word, word.speaker, word.start, word.end) for word in result.words]
    if result.is_diarized or (spoken and not _transcript(result)):
        yield from words.turns(spoken)
    elif spoken:
        yield turn(_transcript(result), None, spoken[0].start, spoken[-1].end)
    elif result.alternatives:
        yield turn(_transcript(result), None, None, result.end)
