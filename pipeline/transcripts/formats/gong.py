"""Gong's answers: the transcript of one call, and the parties of calls, who give its speakers' ids their names.

Source: Gong's public API, /v2/calls/transcript and /v2/calls/extensive. A monologue is a turn. Times in milliseconds.
"""

from collections.abc import Mapping
from typing import Any

from pydantic.alias_generators import to_camel

from pipeline.domain.documents import Turn
from pipeline.transcripts.answers import only
from pipeline.transcripts.source import Parsed, Source, bounded
from pipeline.transcripts.vendor import Many, Milliseconds, Shape, Words, read_as, turn

NAME = "gong"


class _Gong(Shape, alias_generator=to_camel):
    """Gong writes speakerId. Ids are text only: 19 digits that were a number once may have become somebody else's."""


class _Sentence(_Gong):
    start: Milliseconds = None
    end: Milliseconds = None
    text: Words = ""


class _Monologue(_Gong):
    speaker_id: str | None = None
    sentences: Many[_Sentence] = ()


class _Transcript(_Gong):
    transcript: Many[_Monologue] = ()


class _Transcripts(_Gong):
    call_transcripts: Many[_Transcript] = ()


class _Party(_Gong):
    speaker_id: str | None = None
    name: str | None = None


class _Call(_Gong):
    parties: Many[_Party] = ()


class _Calls(_Gong):
    calls: Many[_Call] = ()


def recognises(source: Source) -> bool:
    """Whether it holds callTranscripts, or calls with their parties."""
    return _holds_transcripts(source) or is_parties(source.json)


def parse(source: Source) -> Parsed:
    """The monologues under the names that the file itself or one beside it gives; an id without a name stays."""
    if not _holds_transcripts(source):
        return Parsed([], instead="the names of a call's parties")
    answer, doubts = read_as(_Transcripts, source.json, "Gong")
    names = {**source.names, **parties(source.json)}
    monologues = only(answer.call_transcripts).transcript
    return Parsed([_turn(each, names) for each in bounded(monologues)], doubts)


def is_parties(value: Any) -> bool:
    """Whether a JSON value holds the parties of calls, with or without a transcript."""
    calls = value.get("calls") if isinstance(value, dict) else None
    return isinstance(calls, list) and any(isinstance(call, dict) and "parties" in call for call in calls)


def parties(value: Any) -> dict[str, str]:
    """The names by the speaker ids of those who spoke. Raises ItemFailure where they are not as Gong writes them."""
    answer, _ = read_as(_Calls, value, "Gong")
    return {
        party.speaker_id: party.name
        for call in answer.calls
        for party in call.parties
        if party.speaker_id and party.name
    }


def _holds_transcripts(source: Source) -> bool:
    return isinstance(source.at("callTranscripts"), list)


def _turn(monologue: _Monologue, names: Mapping[str, str]) -> Turn:
    said = monologue.sentences
    speaker = monologue.speaker_id or None
    return turn(
        " ".join(sentence.text for sentence in said),
        names.get(speaker, speaker) if speaker else None,
        said[0].start if said else None,
        said[-1].end if said else None,
    )
