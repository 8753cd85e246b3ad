"""What the JSON of speech services has in common: fields that are read leniently, and the error that names a wrong one.

A format declares what it reads as Shapes; whatever else the file holds is ignored. Times come in seconds,
milliseconds or ticks, as numbers or as text: each unit is a field type here, and all of them give seconds.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, ValidationInfo

from pipeline.domain.documents import Turn, Warning
from pipeline.errors import ItemFailure
from pipeline.transcripts.shape import field_of

_NUMBER = re.compile(r"\s{0,8}[0-9]{1,15}(?:\.[0-9]{1,15})?s?\s{0,8}")
#: What diarization counts with: 0, 12, A.
_COUNTER = re.compile(r"[0-9]{1,3}|[A-Z]")
#: No call is longer, in seconds: a month.
LONGEST_CALL = 31 * 86_400.0

_Doubts = Counter[str]


class Shape(BaseModel):
    """A part of a vendor's JSON, as much of it as is read."""

    model_config = ConfigDict(frozen=True, extra="ignore")


_S = TypeVar("_S", bound=Shape)


def read_as(shape: type[_S], value: Any, vendor: str) -> tuple[_S, tuple[Warning, ...]]:
    """The value as `shape`, and a warning with the number of times in it that could not be read.

    Raises ItemFailure(unreadable_input) that names the first field that is not the vendor's, never its value.
    """
    doubts: _Doubts = Counter()
    try:
        read = shape.model_validate(value, context=doubts)
    except ValidationError as error:
        place = field_of(error.errors(include_url=False, include_context=False)[0]["loc"])
        raise ItemFailure(
            "unreadable_input", f"not what {vendor} writes at {place or 'the top'}: export it again"
        ) from None
    except RecursionError:
        raise ItemFailure("unreadable_input", f"not what {vendor} writes: nested too deeply") from None
    return read, tuple(Warning(code=code, place=f"{count} times") for code, count in doubts.items())


def unreadable(info: ValidationInfo) -> None:
    """Count a time that is left out, for the warning that `read_as` gives."""
    if isinstance(info.context, Counter):
        info.context["unreadable_timing"] += 1


def _in_seconds(per_second: float) -> Callable[[Any, ValidationInfo], float | None]:
    def read(given: Any, info: ValidationInfo) -> float | None:
        if given is None or given == "":
            return None
        number = _number(given)
        if number is None or not 0 <= number / per_second <= LONGEST_CALL:
            unreadable(info)
            return None
        return number / per_second

    return read


def _number(given: Any) -> float | None:
    if isinstance(given, str):
        return float(given.strip().removesuffix("s")) if _NUMBER.fullmatch(given) else None
    if isinstance(given, bool) or not isinstance(given, int | float):
        return None
    number = float(given) if abs(given) < 2**63 else math.inf
    return number if math.isfinite(number) else None


def _name(given: Any) -> Any:
    """A label as text: 0 and "A", which are counted and nobody's name, as "Speaker 0" and "Speaker A"."""
    if isinstance(given, int) and not isinstance(given, bool):
        given = str(given)
    if isinstance(given, str):
        given = given.strip()
        return (f"Speaker {given}" if _COUNTER.fullmatch(given) else given) or None
    return given


def _or_empty(given: Any) -> Any:
    return "" if given is None else given


def _or_nothing(given: Any) -> Any:
    return () if given is None else given


#: 12.5, "12.500", "12.5s" -> 12.5; None where there is no such time.
Seconds = Annotated[float | None, BeforeValidator(_in_seconds(1))]
Milliseconds = Annotated[float | None, BeforeValidator(_in_seconds(1_000))]
#: Units of 100 nanoseconds, as .NET counts.
Ticks = Annotated[float | None, BeforeValidator(_in_seconds(10_000_000))]
#: A speaker's label or None; numbers and single letters are counted speakers.
Label = Annotated[str | None, BeforeValidator(_name)]
#: Text; null is empty.
Words = Annotated[str, BeforeValidator(_or_empty)]

_T = TypeVar("_T")
#: A list; null is an empty one. Ten hours of speech have 100,000 words; more than this would fill the memory.
Many = Annotated[tuple[_T, ...], Field(max_length=400_000), BeforeValidator(_or_nothing)]


def turn(text: str, speaker: str | None, start: float | None, end: float | None) -> Turn:
    """A Turn, its end left out where it comes before its start."""
    backwards = start is not None and end is not None and end < start
    return Turn(text=text, speaker=speaker, start=start, end=None if backwards else end)


def of_channels(found: Iterable[tuple[str, Turn]]) -> list[Turn]:
    """Turns with the channel that each was recorded on, in order. Of one channel they stay as they are.

    Diarization counts anew on each channel, so the channel tells who speaks, together with the speaker where it has
    several. A channel without a name tells nothing.
    """
    pairs = list(found)
    voices: dict[str, set[str | None]] = {}
    for channel, each in pairs:
        voices.setdefault(channel, set()).add(each.speaker)
    if len(voices) < 2:
        return [each for _, each in pairs]
    return in_order(
        [each.model_copy(update={"speaker": _on(channel, each, voices[channel])}) for channel, each in pairs]
    )


def _on(channel: str, said: Turn, voices: set[str | None]) -> str | None:
    if not channel:
        return said.speaker
    return f"{channel}, {said.speaker}" if said.speaker not in (None, channel) and len(voices) > 1 else channel


def in_order(turns: list[Turn]) -> list[Turn]:
    """Turns of several channels by their starts; one without a start stays behind its neighbour."""
    latest = 0.0
    keyed = []
    for each in turns:
        latest = latest if each.start is None else each.start
        keyed.append((latest, each))
    return [each for _, each in sorted(keyed, key=lambda pair: pair[0])]
