"""Times in JSON that are spelled out: clock times, durations ("PT1.5S", {"seconds": "1", "nanos": 500000000}), dates.

Dates become seconds from the first of them, since a file says when something was said and not when the call began.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BeforeValidator, ValidationInfo

from pipeline.domain.documents import Warning
from pipeline.transcripts import clock
from pipeline.transcripts.vendor import LONGEST_CALL, Seconds, unreadable

_ISO = re.compile(
    r"P(?:([0-9]{1,3})D)?T(?:([0-9]{1,6})H)?(?:([0-9]{1,6})M)?(?:([0-9]{1,9}(?:\.[0-9]{1,15})?)S)?", re.ASCII
)


def _on_the_clock(given: Any) -> Any:
    seconds = clock.exactly(given) if isinstance(given, str) else None
    return given if seconds is None else seconds


def _as_number(given: Any) -> Any:
    """What vendor.Seconds reads; whatever is no duration stays as it is, and is counted there."""
    if isinstance(given, str) and (parts := _ISO.fullmatch(given)):
        days, hours, minutes, seconds = (float(part or 0) for part in parts.groups())
        return ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    if isinstance(given, dict):
        seconds, nanos = given.get("seconds") or 0, given.get("nanos") or 0
        return f"{seconds}.{nanos:09}" if isinstance(seconds, int | str) and isinstance(nanos, int) else given
    return given


def _as_date(given: Any, info: ValidationInfo) -> datetime | None:
    if given is None:
        return None
    try:
        date = datetime.fromisoformat(given)
    except (TypeError, ValueError):
        unreadable(info)
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


#: Seconds, or a clock time: 62, "00:01:02", "00:01:02,500".
ClockTime = Annotated[Seconds, BeforeValidator(_on_the_clock)]
#: Seconds as they are, or spelled as ISO 8601 and Google's messages do.
Duration = Annotated[Seconds, BeforeValidator(_as_number)]
#: A date with a time, in UTC where it names no zone.
Date = Annotated[datetime | None, BeforeValidator(_as_date)]


def after(start: float | None, length: float | None) -> float | None:
    """The end of what begins at `start` and lasts `length`, to the microsecond: sums of floats carry dust."""
    return None if start is None or length is None else round(start + length, 6)


def elapsed(dates: Sequence[datetime | None], field: str) -> tuple[list[float | None], tuple[Warning, ...]]:
    """Seconds from the first date to each; where one is earlier, or a month away, none is believed, and a warning."""
    first = next((date for date in dates if date), None)
    since = [(date - first).total_seconds() if date and first else None for date in dates]
    if all(seconds is None or 0 <= seconds <= LONGEST_CALL for seconds in since):
        return since, ()
    return [None] * len(since), (Warning(code="unreadable_timing", place=field),)
