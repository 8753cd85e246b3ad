"""Cues: a timing line (`start --> end`) and the text below it, as WebVTT and SubRip share them.

Lenient on purpose, since silent loss is the commonest fault of caption parsers: a time that cannot be read gives a cue
without times, text that belongs to no cue gives a cue of its own, and both are counted for a warning. In the end the
lines that look like times are counted without this reader's patterns. Every pattern is bounded and tried once per line,
so that time is linear in any input.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from pipeline.domain.documents import Warning
from pipeline.transcripts import clock

_SETTING = r"(?:align|line|position|region|size|vertical)"
#: A block as nearly all are, found at once: an id or none, times that can be read, and words. Or nothing, where the
#: next block is another: so a search never goes beyond it.
_REGULAR = re.compile(
    rf"(?:([^\s>][^\n>]{{0,199}})\n)?{clock.PARTS} --> {clock.PARTS}(?: {_SETTING}:[^\n>]*)?\n"
    r"(?P<words>[^\n]++(?:\n[^\n]++){0,50}+)(?:\n\n|\n?\Z)|"
)
#: Times that can be read, or (`doubtful`) what stands where times should.
_TIMING = re.compile(
    rf"[ \t]{{0,8}}(?:{clock.PARTS}[ \t]{{0,8}}-->[ \t]{{0,8}}{clock.PARTS}"
    r"|(?P<doubtful>\S{0,40}?)[ \t]{0,8}-->[ \t]{0,8}(?P<end>\S{0,40}))(?P<rest>[^\n]*)"
)
_CLOCKLIKE = re.compile(r"(?=\S*[0-9])\S*:")
_NO_WORD = re.compile(r"(?:[0-9]|[^\w\s])*")
#: Where a cue stands on the screen. Anything else behind the times is words.
_SETTINGS = re.compile(rf"\s*(?:{_SETTING}[:\x00]|[XY][12]:|\x00|$)")
_INK = re.compile(r"\S")
_WHOLE_TIME = re.compile(clock.CLOCK)
_NUMBER = re.compile(r"[0-9]{1,9}[ \t]*")
#: What stands above a timing line below an empty cue is an id if it looks like one, else that cue's words.
_CODE = re.compile(r"[^\s0-9]{0,80}[0-9]\S{0,80}")
#: Webex puts a name of a hundred characters there. What is longer was said.
_LONGEST_ID = 200
_TIME = re.compile(r"[0-9]:[0-9]")
#: What becomes of an arrow in other programs: a sign, a letter, a character reference.
_NO_ARROW = r"(?:(?!-->)(?:[^\w\n:.]|\u00e0|&gt;)){1,12}"
_TWO_TIMES = re.compile(rf"^[^\w\n]{{0,8}}{clock.CLOCK}{_NO_ARROW}{clock.CLOCK}", re.MULTILINE)

_Test = Callable[[str], bool]


class Cue(NamedTuple):
    """`text` as it stands in the file, markup and all; times in seconds, None where the file gives none."""

    text: str
    start: float | None = None
    end: float | None = None
    #: What to tell the reader of the row, and where in the text the cue begins.
    doubt: str | None = None
    offset: int = 0
    #: The line above the timing line.
    id: str = ""

    @property
    def is_timed(self) -> bool:
        """Whether a timing line opened it."""
        return self.doubt != "text_outside_cues"


def no_comment(_block: str) -> bool:
    """Most formats have no comments."""
    return False


def cues(text: str, is_comment: _Test = no_comment) -> Iterator[Cue]:
    """All cues in order. Blocks for which `is_comment` holds are no speech.

    A cue's words go to the next empty line; where none stand above that, the block below it is the cue's (Teams without
    names puts an empty line there).
    """
    last = None
    for cue in _apart(text, is_comment):
        if last is not None and not last.text and last.is_timed:
            if not cue.is_timed:
                yield last._replace(text=cue.text)
                last = None
                continue
            if cue.id and not _CODE.fullmatch(cue.id):
                last = last._replace(text=cue.id)
        if last is not None:
            yield last
        if len(cue.id) > _LONGEST_ID:
            yield stray(cue.id, cue.offset)
        last = cue
    if last is not None:
        yield last


def doubts(found: list[Cue], text: str) -> Iterator[Warning]:
    """One warning for each kind of doubt, with the first line that has it and how many more there are."""
    by_code: dict[str, list[int]] = {}
    for cue in found:
        if cue.doubt:
            by_code.setdefault(cue.doubt, []).append(cue.offset)
    for code, offsets in by_code.items():
        yield Warning(code=code, place=_place(text, offsets))
    timed = sum(cue.is_timed for cue in found)
    if text.count("-->") <= timed:  # as in most files: no line needs a look
        return
    yield from lost(_with_arrow(text), timed)


def timing_like(text: str) -> int:
    """How many lines look like times to one who knows no format."""
    return _with_arrow(text) + sum(1 for _ in _TWO_TIMES.finditer(text))


def lost(alike: int, timed: int) -> Iterator[Warning]:
    """A warning where more lines look like times than there are turns that have one."""
    if timed < alike:
        yield Warning(code="timing_lines_lost", place=f"{alike - timed} of {alike} lines")


def timed(text: str, start: float | None, end: float | None, offset: int = 0, name: str = "") -> Cue:
    """The cue with these times in seconds; a doubtful one where they cannot be."""
    if start is None or end is None or end < start:
        return Cue(text, start, doubt="unreadable_timing", offset=offset, id=name)
    return Cue(text, start, end, None, offset, name)


def stray(text: str, offset: int) -> Cue:
    """Text that belongs to no times."""
    return Cue(text, doubt="text_outside_cues", offset=offset)


def _apart(text: str, is_comment: _Test) -> Iterator[Cue]:
    """The cues of each block by itself; a number above an empty line and a timing line is an id, not words."""
    number = None
    for cue in _by_blocks(text):
        if number is not None and (cue.id or not cue.is_timed):
            yield number
        number = None
        if cue.doubt is None or cue.is_timed:
            yield cue
        elif _NUMBER.fullmatch(cue.text):
            number = cue
        elif not is_comment(cue.text):
            yield cue
    if number is not None:
        yield number


def _by_blocks(text: str) -> Iterator[Cue]:
    """The cues of each run of lines that are not empty."""
    end = 0
    while (begin := _ink(text, end)) < len(text):
        end = begin
        for regular in _REGULAR.finditer(text, begin):
            name, h1, m1, s1, h2, m2, s2, words = regular.groups()
            if words is None or "-->" in words:
                break
            place = regular.start("words") - 1
            yield timed(words, clock.of(h1, m1, s1), clock.of(h2, m2, s2), place, name or "")
            end = regular.end()
        if end == begin:
            stop = text.find("\n\n", begin)
            stop = len(text) if stop < 0 else stop
            yield from _of_irregular_block(text[begin:stop], begin)
            end = stop + 2


def _ink(text: str, begin: int) -> int:
    """Where the next line begins that is not blank."""
    if not text.startswith(("\n", " ", "\t"), begin):
        return begin
    ink = _INK.search(text, begin)
    return len(text) if ink is None else max(begin, text.rfind("\n", begin, ink.start()) + 1)


def _of_irregular_block(block: str, offset: int) -> Iterator[Cue]:
    timing, name, begin = None, "", 0
    for following in _timings(block):
        words, next_name = _split(block[begin : max(begin, following.start() - 1)], below_timing=timing is not None)
        if timing is not None:
            yield _of_timing(words, timing, name, offset)
        elif words:
            yield stray(words, offset)
        timing, name, begin = following, next_name, following.end() + 1
    words = block[begin:].removesuffix("\n")
    yield stray(words, offset) if timing is None else _of_timing(words, timing, name, offset)


def _split(lines: str, *, below_timing: bool) -> tuple[str, str]:
    """Words and the id on the line below them: any single line, but below another cue's words only a number."""
    words, newline, last = lines.rpartition("\n")
    if newline:
        return (words, last) if _NUMBER.fullmatch(last) else (lines, "")
    return (last, "") if below_timing else ("", last)


def _timings(block: str) -> Iterator[re.Match[str]]:
    for start, _ in _arrow_lines(block):
        line = _TIMING.match(block, start)
        if line is not None and _is_timing(line):
            yield line


def _arrow_lines(text: str) -> Iterator[tuple[int, int]]:
    """Start and stop of each line with an arrow and a colon in it, as all times have."""
    stop = -1
    while (arrow := text.find("-->", stop + 1)) >= 0:
        start = text.rfind("\n", stop + 1, arrow) + 1 or stop + 1
        stop = text.find("\n", arrow)
        if stop < 0:
            stop = len(text)
        if text.find(":", start, stop) >= 0:
            yield start, stop


def _with_arrow(text: str) -> int:
    """How many lines have an arrow and what could be a time."""
    return sum(_TIME.search(text, start, min(stop, start + 200)) is not None for start, stop in _arrow_lines(text))


def _is_timing(line: re.Match[str]) -> bool:
    """Whether there is a time on one side at least, and no word before the arrow."""
    start = line["doubtful"]
    if start is None or _CLOCKLIKE.match(start):
        return True
    return _NO_WORD.fullmatch(start) is not None and _CLOCKLIKE.match(line["end"]) is not None


def _of_timing(text: str, timing: re.Match[str], name: str, offset: int) -> Cue:
    h1, m1, s1, h2, m2, s2, doubtful, until, rest = timing.groups()
    start: float | None = None
    end: float | None = None
    if doubtful is None:
        start, end = clock.of(h1, m1, s1), clock.of(h2, m2, s2)
    else:
        start, end = _time(doubtful), _time(until)
    if rest and not _SETTINGS.match(rest):
        text = f"{rest.strip()}\n{text}".rstrip("\n")
    return timed(text, start, end, offset + timing.start("rest"), name)


def _time(text: str) -> float | None:
    """The time that the text is; with anything behind it, it may be a word."""
    return clock.seconds(text) if _WHOLE_TIME.fullmatch(text) else None


def _place(text: str, offsets: list[int]) -> str:
    more = len(offsets) - 1
    return f"line {text.count(chr(10), 0, offsets[0]) + 1}" + (f" and {more} more" if more else "")
