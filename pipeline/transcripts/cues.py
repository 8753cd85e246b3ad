"""Cues: a timing line (`start --> end`) and the text below it, as WebVTT and SubRip share them.

Lenient on purpose, since silent loss is the commonest fault of caption parsers: a time that cannot be read gives a cue
without times, text that belongs to no cue gives a cue of its own, and both are counted for a warning.
Every pattern is anchored to a line's start and bounded, so that time is linear in any input.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from pipeline.domain.documents import Warning
from pipeline.transcripts.clock import seconds

_TIMING = re.compile(r"^[ \t]{0,8}(?P<start>\S{1,40}?)[ \t]{0,8}-->[ \t]{0,8}(?P<end>\S{0,40})[^\n]*$", re.MULTILINE)
_CLOCKLIKE = re.compile(r"(?=\S*[0-9])\S*:")
_INK = re.compile(r"\S")
_NUMBER = re.compile(r"[0-9]{1,9}[ \t]*")

_Test = Callable[[str], bool]


class Cue(NamedTuple):
    """`text` as it stands in the file, markup and all; times in seconds, None where the file gives none."""

    text: str
    start: float | None = None
    end: float | None = None
    #: What to tell the reader of the row, and where in the text the cue begins.
    doubt: str | None = None
    offset: int = 0


def cues(text: str, is_comment: _Test) -> Iterator[Cue]:
    """All cues in order. Blocks for which `is_comment` holds are no speech; neither is the first timing line's id."""
    begin, timing = 0, None
    for following in _timings(text):
        yield from _between(text, begin, timing, following, is_comment)
        begin, timing = following.end() + 1, following
    yield from _between(text, begin, timing, None, is_comment)


def doubts(found: list[Cue], text: str) -> tuple[Warning, ...]:
    """One warning for each kind of doubt, with the first line that has it and how many more there are."""
    by_code: dict[str, list[int]] = {}
    for cue in found:
        if cue.doubt:
            by_code.setdefault(cue.doubt, []).append(cue.offset)
    return tuple(Warning(code=code, place=_place(text, offsets)) for code, offsets in by_code.items())


def _timings(text: str) -> Iterator[re.Match[str]]:
    return (line for line in _TIMING.finditer(text) if _CLOCKLIKE.match(line["start"]))


def _between(
    text: str, begin: int, timing: re.Match[str] | None, following: re.Match[str] | None, is_comment: _Test
) -> Iterator[Cue]:
    """The cue that `timing` opens, then the blocks up to the next timing line, whose id is dropped."""
    end = following.start() if following else len(text)
    if timing is not None:
        blank = _blank_line(text, begin, end)
        own = text[begin:blank].removesuffix("\n")
        yield _timed(_without_number(own) if following and blank == end else own, timing)
        begin = blank
    if following is not None:
        end = _id_start(text, begin, end)
    for start, stop in _blocks(text, begin, end):
        if not is_comment(text[start:stop]):
            yield Cue(text[start:stop], doubt="text_outside_cues", offset=start)


def _timed(text: str, timing: re.Match[str]) -> Cue:
    start, end = seconds(timing["start"]), seconds(timing["end"])
    if start is None or end is None or end < start:
        return Cue(text, start, doubt="unreadable_timing", offset=timing.start())
    return Cue(text, start, end)


def _without_number(text: str) -> str:
    """Without the next cue's number, where the blank line before it is missing."""
    rest, _, number = text.rpartition("\n")
    return rest if rest and _NUMBER.fullmatch(number) else text


def _id_start(text: str, begin: int, end: int) -> int:
    """Where the next cue's id begins: the line just above its timing line, or a number with a blank line between."""
    stop = end - 2 if text.endswith("\n\n", begin, end) else end - 1
    line = text.rfind("\n", begin, max(begin, stop)) + 1 or begin
    return line if stop == end - 1 or _NUMBER.fullmatch(text, line, stop) else end


def _blank_line(text: str, begin: int, end: int) -> int:
    """Where the text that starts at `begin` meets its first empty line, or `end`."""
    if text.startswith("\n", begin, end):
        return begin
    blank = text.find("\n\n", begin, end)
    return end if blank < 0 else blank


def _blocks(text: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Start and stop of each run of lines that are not empty, but for the blank lines above it."""
    while ink := _INK.search(text, begin, end):
        start = text.rfind("\n", begin, ink.start()) + 1 or begin
        stop = _blank_line(text, start, end)
        yield start, stop
        begin = stop


def _place(text: str, offsets: list[int]) -> str:
    more = len(offsets) - 1
    return f"line {text.count(chr(10), 0, offsets[0]) + 1}" + (f" and {more} more" if more else "")
