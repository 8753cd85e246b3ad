"""Turns as Callfold itself writes them, and whoever keeps it simple: a list of {speaker, text, start, end}.

The list stands alone or under a usual name, and so do the fields of each turn. Labels and texts are kept to the letter,
so that what was read and written reads the same. Times are seconds, clock times ("00:01:02") or dates, or milliseconds
where their name says so.
"""

import re
from functools import lru_cache
from typing import Annotated, Any

from pydantic import BeforeValidator, ValidatorFunctionWrapHandler, WrapValidator

from pipeline.domain.documents import Turn
from pipeline.transcripts.answers import CALL_IDS, require_one, speech, written_in
from pipeline.transcripts.formats import chat_messages
from pipeline.transcripts.moments import ClockTime, Date, after, elapsed
from pipeline.transcripts.source import Parsed, Source, bounded
from pipeline.transcripts.vendor import Milliseconds, Seconds, Shape, Words, read_as

NAME = "turns"

_LISTS = ("turns", "transcript", "segments", "utterances", "sentences", "entries", "conversation", "dialogue")
#: By field, what it is called, in any case and with blanks or without. The first that holds something counts: names
#: before labels, and these before numbers.
_NAMES = {
    "text": ("text", "content", "message", "utterance", "sentence"),
    "speaker": (
        *("speakername", "participantname", "speaker", "name", "participant", "displayname", "author", "sender"),
        *("user", "username", "speakerlabel", "speakerid", "role"),
    ),
    "start": ("start",),
    "end": ("end",),
    "began": (
        *("starttime", "starttimestamp", "startseconds", "begin", "begintime", "timestamp", "time", "ts", "offset"),
        "secondsfromstart",
    ),
    "ended": ("endtime", "endtimestamp", "endseconds"),
    "began_ms": ("startms", "starttimems", "startmillis", "starttimemillis", "startmilliseconds"),
    "ended_ms": ("endms", "endtimems", "endmillis", "endtimemillis", "endmilliseconds"),
    "lasted": ("duration",),
}
#: Where a time goes that is a date.
_DATED = {"start": "began_on", "began": "began_on", "end": "ended_on", "ended": "ended_on"}
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ]")
#: What makes a turn of words that are not called text. A name may be anything's.
_TOLD = {name for field in ("speaker", "start", "began", "began_ms") for name in _NAMES[field]} - {"name"}


def _as_written(given: Any, read: ValidatorFunctionWrapHandler) -> Any:
    """Our own times stay as they are, however long the call is."""
    is_ours = isinstance(given, int | float) and not isinstance(given, bool) and 0 <= given < 2**63
    return float(given) if is_ours else read(given)


def _label(given: Any) -> Any:
    if isinstance(given, dict):
        given = next((given[key] for key in ("name", "display_name", "label", "id") if given.get(key)), None)
    return f"Speaker {given}" if isinstance(given, int) else given


_Time = Annotated[ClockTime, WrapValidator(_as_written)]


class _Turn(Shape):
    text: Words
    speaker: Annotated[str | None, BeforeValidator(_label)] = None
    start: _Time = None
    end: _Time = None
    began: ClockTime = None
    ended: ClockTime = None
    began_ms: Milliseconds = None
    ended_ms: Milliseconds = None
    began_on: Date = None
    ended_on: Date = None
    lasted: Seconds = None


class _Document(Shape):
    turns: tuple[_Turn, ...]


def recognises(source: Source) -> bool:
    """Whether there is a list of turns, or an empty one."""
    return turns_in(source) is not None


def parse(source: Source) -> Parsed:
    """All of them, the blank ones too."""
    found = list(bounded(turns_in(source) or ()))
    require_one(
        value for each in found if isinstance(each, dict) for name, value in _named(each).items() if name in CALL_IDS
    )
    document, doubts = read_as(_Document, {"turns": (_fields(each) for each in found)}, "Callfold")
    dates = [date for each in document.turns for date in (each.began_on, each.ended_on)]
    times, late = elapsed(dates, "timestamp")
    spoken = map(_as_turn, document.turns, times[0::2], times[1::2])
    return speech(spoken, (*doubts, *late, *chat_messages.beside(source)), written_in(source))


def turns_in(source: Source) -> list[Any] | None:
    """The list of turns, an empty one where no other one is; None where there is none."""
    if chat_messages.are_messages(source.json):
        return None
    lists = [each for each in (source.json, *(source.at(name) for name in _LISTS)) if isinstance(each, list)]
    turns = next((each for each in lists if each and _is_turn(each[0])), None)
    return [] if turns is None and lists and not any(lists) else turns


def _is_turn(first: Any) -> bool:
    """A text alone is one, too, where that is its name."""
    given = _named(first) if isinstance(first, dict) else {}
    if not isinstance(given.get("speaker"), str | int | dict | None):
        return False
    told = not _TOLD.isdisjoint(given)
    return "text" in given or (told and any(isinstance(given.get(name), str) for name in _NAMES["text"]))


def _fields(given: Any) -> Any:
    """A turn's fields under our own names."""
    if not isinstance(given, dict):
        return given
    named = _named(given)
    found = {field: [named[name] for name in names if name in named] for field, names in _NAMES.items()}
    chosen = {field: next(filter(_holds, values), values[0]) for field, values in found.items() if values}
    return {_DATED.get(field, field) if _is_date(value) else field: value for field, value in chosen.items()}


def _named(given: dict[str, Any]) -> dict[str, Any]:
    return {_name(name): value for name, value in given.items()}


@lru_cache(maxsize=1024)
def _name(key: str) -> str:
    return key.replace("_", "").replace(" ", "").casefold()


def _holds(value: Any) -> bool:
    return value is not None and value != ""


def _is_date(value: Any) -> bool:
    return isinstance(value, str) and _DATE.match(value) is not None


def _as_turn(given: _Turn, since: float | None, until: float | None) -> Turn:
    start = _first(given.start, given.began, given.began_ms, since)
    end = _first(given.end, given.ended, given.ended_ms, until, after(start, given.lasted))
    return Turn(text=given.text, speaker=given.speaker, start=start, end=end)


def _first(*times: float | None) -> float | None:
    return next((time for time in times if time is not None), None)
