"""AssemblyAI's transcript: utterances where speakers were asked for, else words, else the text; or utterances alone.

Source: assemblyai.com/docs, GET /v2/transcript/{id}. Times in milliseconds; only `audio_duration` is in seconds.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from pipeline.domain.documents import Turn
from pipeline.errors import ItemFailure
from pipeline.transcripts import words
from pipeline.transcripts.answers import speech
from pipeline.transcripts.source import Parsed, Source
from pipeline.transcripts.vendor import Label, Many, Milliseconds, Shape, Words, read_as, turn

NAME = "assemblyai"

#: Speaker A of channel 1, where each channel was diarized.
_OF_A_CHANNEL = re.compile(r"[0-9]{1,2}[A-Z]")


#: What only AssemblyAI's utterances have together, where they are saved without their transcript.
_UTTERANCE = frozenset({"speaker", "text", "start", "end", "confidence", "words"})


class _Spoken(Shape):
    """A word or an utterance."""

    text: Words = ""
    start: Milliseconds = None
    end: Milliseconds = None
    speaker: Label = None

    @property
    def label(self) -> str | None:
        """Who says it."""
        counted = self.speaker and _OF_A_CHANNEL.fullmatch(self.speaker)
        return f"Speaker {self.speaker}" if counted else self.speaker


class _Transcript(Shape):
    status: str = "completed"
    text: Words = ""
    utterances: Many[_Spoken] = ()
    words: Many[_Spoken] = ()
    summary: Any = None
    chapters: Any = None


#: What no other tool's answer has together.
_ITS_UTTERANCES = frozenset({"utterances", "audio_duration"})


def recognises(source: Source) -> bool:
    """Whether it has the state of a job and the audio that the job is of, or utterances that count milliseconds."""
    value = source.json
    if isinstance(value, dict) and (value.keys() >= {"id", "status", "audio_url"} or value.keys() >= _ITS_UTTERANCES):
        return True
    first = source.at(0) or source.at("utterances", 0)
    return isinstance(first, dict) and first.keys() >= _UTTERANCE and isinstance(first["start"], int)


def parse(source: Source) -> Parsed:
    """The most telling of what the transcript holds. Raises ItemFailure(unreadable_input) for a job without one."""
    value = {"utterances": source.json} if isinstance(source.json, list) else source.json
    transcript, doubts = read_as(_Transcript, value, "AssemblyAI")
    if transcript.status == "error":
        raise ItemFailure("unreadable_input", "AssemblyAI could not transcribe it: transcribe it again")
    if transcript.status != "completed":
        raise ItemFailure("unreadable_input", "AssemblyAI has not finished it: export it again later")
    written = {"summary": transcript.summary, "chapters": transcript.chapters}
    return speech(_turns(transcript), doubts, written)


def _turns(transcript: _Transcript) -> Iterable[Turn]:
    if transcript.utterances:
        return (turn(each.text, each.label, each.start, each.end) for each in transcript.utterances)
    if transcript.words:
        return words.turns(_words(transcript.words))
    return [turn(transcript.text, None, None, None)] if transcript.text else []


def _words(spoken: Iterable[_Spoken]) -> Iterator[words.Word]:
    return (words.Word(each.text, each.label, each.start, each.end) for each in spoken)
