"""A file's bytes -> a Reading, or one named reason why not. The content decides, never the file's name."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pipeline.domain.documents import Transcript, Turn, Warning
from pipeline.errors import ItemFailure
from pipeline.transcripts import collector, repeats, speakers, speech
from pipeline.transcripts.formats import FORMATS
from pipeline.transcripts.source import Parsed, Source, bounded

#: Ten hours of speech are about one megabyte.
MAX_BYTES = 64 * 1024 * 1024
#: Characters that are replaced, or were before: U+FFFD in the file stands for something that another tool lost.
_LOST = re.compile("[\x00\ufffd]")
#: UTF-8 that was read as cp1252 before it came to us: Ã¼ for ü, â€™ for an apostrophe. Nobody writes them so.
_MOJIBAKE = re.compile("\u00c3[\u00a0-\u00bf\u0192\u2013-\u203a]|\u00e2\u20ac[\u00a0-\u00ff\u0153\u2013-\u2122]")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a file says, what was doubtful about it, and the name of the format it is in."""

    transcript: Transcript
    warnings: tuple[Warning, ...]
    format: str


def read(data: bytes, names: Mapping[str, str] | None = None) -> Reading:
    """Read one transcript. `names`: those of speakers whom the file knows by ids only.

    Raises ItemFailure: unreadable_input (not text, too large, of no known shape), not_a_call (a chat, a summary),
    empty_input (nobody says a word), too_short (nothing in it could be quoted).
    """
    if len(data) > MAX_BYTES:
        raise too_large()
    if not data.strip():
        raise speech.nobody_speaks()
    with collector.paused():
        return _read(Source(data, names or {}))


def settled(turns: Sequence[Turn]) -> tuple[list[Turn], tuple[Warning, ...]]:
    """What every format's turns go through: labels are settled, repeats that nobody said go, and it must be speech.

    Raises ItemFailure: empty_input, too_short.
    """
    labelled, merged = speakers.settle(turns)
    said, repeated = repeats.settle(labelled)
    speech.require(said)
    return said, (*merged, *repeated, *speakers.doubts(said))


def too_large() -> ItemFailure:
    """The failure of a file that is not even read."""
    return ItemFailure("unreadable_input", f"larger than {MAX_BYTES // 1024**2} MiB: submit one call per document")


def _read(source: Source) -> Reading:
    parsed, name = _parsed(source)
    if parsed.instead:
        raise ItemFailure("not_a_call", f"{parsed.instead}, not a call: leave it out of the batch")
    turns, doubts = settled(list(bounded(parsed.turns)))
    return Reading(Transcript(turns=tuple(turns)), (*_losses(source, turns), *parsed.warnings, *doubts), name)


def _parsed(source: Source) -> tuple[Parsed, str]:
    """What the format of a file, and that of the text inside it, make of it; and the name of the first."""
    chosen = next(form for form in FORMATS if form.recognises(source))
    parsed = chosen.parse(source)
    if parsed.within is not None:
        inner, _ = _parsed(Source(parsed.within.encode(), source.names))
        parsed = inner._replace(warnings=(*parsed.warnings, *inner.warnings))
    return parsed, chosen.NAME


def _losses(source: Source, turns: Sequence[Turn]) -> Iterator[Warning]:
    if source.decoded.lossy:
        yield Warning(code="lossy_decoding", place=source.decoded.encoding)
    for code, pattern, beginnings in (
        ("replaced_characters", _LOST, "\x00\ufffd"),
        ("suspicious_characters", _MOJIBAKE, "\u00c3\u00e2"),
    ):
        found = any(beginning in source.text for beginning in beginnings) and pattern.search(source.text)
        if found:
            more = len(pattern.findall(source.text)) - 1
            yield _loss(code, "line", source.text.count("\n", 0, found.start()) + 1, more)
        elif source.json is not None:  # where an escape may stand for each character
            places = [place for place, turn in enumerate(turns) if pattern.search(f"{turn.speaker} {turn.text}")]
            if places:
                yield _loss(code, "turn", places[0], len(places) - 1)


def _loss(code: str, unit: str, number: int, more: int) -> Warning:
    return Warning(code=code, place=f"{unit} {number}" + (f" and {more} more" if more else ""))
