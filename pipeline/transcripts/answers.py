"""What the answers of recorders' APIs have in common: they should hold one call, and may hold more than its speech.

A summary in a file was written by a model. It is left out with a warning, for nobody should summarise a summary.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from pipeline.domain.documents import Turn, Warning
from pipeline.errors import ItemFailure
from pipeline.transcripts.source import SUMMARY, Parsed, Source, bounded

#: What the id of a call is called, without blanks and in lower case.
CALL_IDS = frozenset(
    f"{what}id"
    for what in ("call", "conversation", "session", "meeting", "recording", "interaction", "transcript", "document")
)
#: What others call such a field beside a transcript.
_WRITTEN = (
    *("summary", "Summary", "short_summary", "ai_summary", "action_items", "key_points", "highlights"),
    *("analysis.summary", "call_analysis.call_summary"),
)

_T = TypeVar("_T")


def only(calls: Sequence[_T]) -> _T:
    """The one call of an answer. Raises ItemFailure(unreadable_input) where there are several, or none."""
    if not calls:
        raise ItemFailure("unreadable_input", "holds no call yet: export it again later")
    if len(calls) > 1:
        raise ItemFailure("unreadable_input", f"holds {len(calls)} calls: submit one file per call")
    return calls[0]


def require_one(calls: Iterable[Any]) -> None:
    """Let pass what names one call, or none. Raises ItemFailure(unreadable_input) where it names several."""
    if (count := len(set(map(str, calls)))) > 1:
        raise ItemFailure("unreadable_input", f"holds {count} calls: submit one file per call")


def speech(turns: Iterable[Turn], doubts: tuple[Warning, ...], written: Mapping[str, Any]) -> Parsed:
    """The turns, and a warning for each field of `written`, what models wrote, that holds something."""
    left_out = summaries(written)
    spoken = list(bounded(turns))
    return Parsed(spoken, (*doubts, *left_out), instead=SUMMARY if left_out and not spoken else None)


def summaries(written: Mapping[str, Any]) -> tuple[Warning, ...]:
    """A warning for each field of what models wrote that holds something."""
    return tuple(Warning(code="summary_left_out", place=name) for name, value in written.items() if _holds(value))


def written_in(source: Source) -> dict[str, Any]:
    """The fields of an object of no certain vendor that hold what a model wrote."""
    return {name: source.at(*name.split(".")) for name in _WRITTEN}


def _holds(value: Any) -> bool:
    return any(value.values()) if isinstance(value, dict) else bool(value)
