"""Turns as Callfold itself writes them, and whoever keeps it simple: a list of {speaker, text, start, end}.

The list stands alone or under a usual name, and so do the fields of each turn. Labels and texts are kept to the letter,
so that what was read and written reads the same. Times are seconds or clock times ("00:01:02"), or milliseconds where
their name says so. Messages, as chat programs export them, are no call.
"""

from typing import Annotated, Any

from pydantic import AliasChoices, BeforeValidator, Field, ValidationInfo

from pipeline.domain.documents import Turn
from pipeline.transcripts import clock
from pipeline.transcripts.answers import speech, written_in
from pipeline.transcripts.moments import ClockTime
from pipeline.transcripts.source import CHAT, Parsed, Source, bounded
from pipeline.transcripts.vendor import Milliseconds, Shape, Words, read_as, unreadable

NAME = "turns"

_LISTS = ("turns", "transcript", "segments", "utterances", "sentences", "entries")
_TEXTS = ("text", "content", "message", "utterance", "sentence")
_SPEAKERS = ("speaker", "speaker_name", "speakerName", "speaker_label", "speaker_id", "name", "user", "role")
_STARTS = ("start_time", "startTime", "timestamp", "time", "offset", "secondsFromStart")
_ENDS = ("end_time", "endTime")
_STARTS_MS = ("start_ms", "startMs", "start_time_ms", "startTimeMs")
_ENDS_MS = ("end_ms", "endMs", "end_time_ms", "endTimeMs")
#: What messages have, and turns have not.
_CHAT = frozenset({"ts", "client_msg_id", "thread_ts", "messageType", "createdDateTime", "reactions"})


def _time(given: Any, info: ValidationInfo) -> float | None:
    if given is None or given == "":
        return None
    seconds = clock.seconds(given) if isinstance(given, str) else given
    if isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 <= seconds < 2**63:
        return float(seconds)
    unreadable(info)
    return None


def _label(given: Any) -> Any:
    if isinstance(given, dict):
        given = next((given[key] for key in ("name", "display_name", "label", "id") if given.get(key)), None)
    return f"Speaker {given}" if isinstance(given, int) else given


_Time = Annotated[float | None, BeforeValidator(_time)]


def _under(*names: str) -> Any:
    return Field(None, validation_alias=AliasChoices(*names))


class _Turn(Shape):
    text: Words = Field(validation_alias=AliasChoices(*_TEXTS))
    speaker: Annotated[str | None, BeforeValidator(_label)] = _under(*_SPEAKERS)
    start: _Time = None
    end: _Time = None
    began: ClockTime = _under(*_STARTS)
    ended: ClockTime = _under(*_ENDS)
    began_ms: Milliseconds = _under(*_STARTS_MS)
    ended_ms: Milliseconds = _under(*_ENDS_MS)


class _Document(Shape):
    turns: tuple[_Turn, ...]


def recognises(source: Source) -> bool:
    """Whether there is a list of turns, or an empty one."""
    found = _list(source)
    return found is not None and (not found or _is_turn(found[0]))


def parse(source: Source) -> Parsed:
    """All of them, the blank ones too."""
    found = _list(source) or []
    if found and not _CHAT.isdisjoint(found[0]):
        return Parsed([], instead=CHAT)
    document, doubts = read_as(_Document, {"turns": list(bounded(found))}, "Callfold")
    return speech(map(_as_turn, document.turns), doubts, written_in(source))


def _list(source: Source) -> list[Any] | None:
    candidates = (source.json, *(source.at(name) for name in _LISTS))
    return next((found for found in candidates if isinstance(found, list)), None)


def _is_turn(first: Any) -> bool:
    """A text alone is one, too, where that is its name."""
    if not isinstance(first, dict) or not isinstance(first.get("speaker"), str | int | dict | None):
        return False
    keys = first.keys()
    told = not keys.isdisjoint((*_SPEAKERS, "start", *_STARTS, *_STARTS_MS))
    return "text" in keys or (told and any(isinstance(first.get(name), str) for name in _TEXTS))


def _as_turn(given: _Turn) -> Turn:
    start = _first(given.start, given.began, given.began_ms)
    return Turn(text=given.text, speaker=given.speaker, start=start, end=_first(given.end, given.ended, given.ended_ms))


def _first(*times: float | None) -> float | None:
    return next((time for time in times if time is not None), None)
