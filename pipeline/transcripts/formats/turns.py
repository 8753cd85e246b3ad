"""Turns as Callfold itself writes them, and whoever keeps it simple: a list of {speaker, text, start, end}.

The list stands alone or under `turns` or `transcript`. Labels and texts are kept to the letter, so that what was read
and written reads the same. Times are seconds or clock times ("00:01:02").
"""

from collections import Counter
from typing import Annotated, Any

from pydantic import BeforeValidator, ValidationInfo

from pipeline.domain.documents import Turn
from pipeline.transcripts import clock
from pipeline.transcripts.source import Parsed, Source, bounded
from pipeline.transcripts.vendor import Shape, Words, read_as

NAME = "turns"


def _time(given: Any, info: ValidationInfo) -> float | None:
    if given is None or given == "":
        return None
    seconds = clock.seconds(given) if isinstance(given, str) else given
    if isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 <= seconds < 2**63:
        return float(seconds)
    if isinstance(info.context, Counter):
        info.context["unreadable_timing"] += 1
    return None


def _label(given: Any) -> Any:
    return f"Speaker {given}" if isinstance(given, int) else given


_Time = Annotated[float | None, BeforeValidator(_time)]


class _Turn(Shape):
    text: Words
    speaker: Annotated[str | None, BeforeValidator(_label)] = None
    start: _Time = None
    end: _Time = None


class _Document(Shape):
    turns: tuple[_Turn, ...]


def recognises(source: Source) -> bool:
    """Whether there is a list of turns, or an empty one."""
    found = _list(source)
    return found is not None and (not found or _is_turn(found[0]))


def parse(source: Source) -> Parsed:
    """All of them, the blank ones too."""
    document, doubts = read_as(_Document, {"turns": list(bounded(_list(source) or ()))}, "Callfold")
    return Parsed([_as_turn(each) for each in document.turns], doubts)


def _list(source: Source) -> list[Any] | None:
    candidates = (source.json, source.at("turns"), source.at("transcript"))
    return next((found for found in candidates if isinstance(found, list)), None)


def _is_turn(first: Any) -> bool:
    return isinstance(first, dict) and "text" in first and isinstance(first.get("speaker"), str | int | None)


def _as_turn(given: _Turn) -> Turn:
    return Turn(text=given.text, speaker=given.speaker, start=given.start, end=given.end)
