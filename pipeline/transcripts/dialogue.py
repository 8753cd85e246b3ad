"""Turns that lines of text open: `Speaker: text`, `[time] Speaker: text`, `[time] text`, or a time on a line alone.

A turn runs until the next line that opens one; the lines between belong to it. Empty lines around turns are layout,
and so are bullets, numbers and the `>>` of live captions before a time or a name.
"""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from pipeline.domain.documents import Turn
from pipeline.transcripts import labels
from pipeline.transcripts.clock import CLOCK, seconds

_BULLET = r"(?:(?:[-*\u2022\u2013\u2014|]|[0-9]{1,4}[.)])[ \t]{1,4}|[>\u00bb]{1,3}[ \t]{0,4})?"
#: Of a clock on the wall, which does not say when in the recording something was said.
_DATE = r"(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2}[T ])?"
_HALF = r"(?P<half>[ \u202f]?[AaPp]\.?[Mm]\.?(?!\w)|Z|[+-][0-9]{2}:?[0-9]{2})?"
#: Anchored and bounded, so that one line of fifty megabytes costs no more than its length.
_TIME = (
    rf"(?P<bracket>[\[(])?{_DATE}(?P<time>{CLOCK})(?:[ \t]{{0,2}}[-\u2013][ \t]{{0,2}}(?P<end>{CLOCK}))?{_HALF}"
    r"(?(bracket)[\])][ \t]{0,8}|(?:[ \t]{1,8}|$))(?:[-\u2013\u2014][ \t]{1,4})?(?P<alone>$)?"
)
_LINE = re.compile(
    rf"^[ \t]{{0,8}}{_BULLET}(?=\S)(?:{_TIME})?(?P<words>)(?:{labels.LABEL}(?:\[(?P<behind>{CLOCK})\][ \t]?)?)?",
    re.MULTILINE,
)
#: A name that is known without a blank behind its colon.
_TIGHT = re.compile(r"([^\s:\n][^:\n]{0,61}?)[ \t]{0,2}:(?=[^\s/])")
_MARKED = re.compile(r"[*(<#\[]{1,2}([^\s*(<#\[\])>:][^\n*(<#\[\]):>]{0,60})[*)>\]]{0,2}:(?=\s)")
#: A line's end that asks, and one that ends no sentence.
_ASKS = re.compile(r"[?\uff1f\u061f][\"'\u201d\u2019)]{0,2}[ \t]{0,8}$", re.MULTILINE)
_BREAKS_OFF = re.compile(r"[^\s.!?\u2026\u3002\uff01\uff1f\u061f\"'\u201d\u2019)][ \t]{0,8}$", re.MULTILINE)
#: Whoever has not spoken in so many lines is not waited for.
_EVIDENCE = 100_000
_NEARLY_ALL = 0.8

#: Start and end in seconds.
_Times = tuple[float | None, float | None]
_UNTIMED: _Times = (None, None)


class _Proof(NamedTuple):
    """What the labels of a text prove."""

    speakers: frozenset[str]
    #: Where the labels that come back stand on top of paragraphs, so must all others.
    on_top: bool
    #: Whether every line, or every paragraph, begins with what could be a name.
    everywhere: bool
    #: Labels that are headings, as notes have them, and come back.
    headings: frozenset[str]
    #: Whether nearly every line begins with a time, so that these open turns without brackets, too.
    timed: bool

    def name_in(self, line: re.Match[str]) -> tuple[str | None, int]:
        """The speaker whom the line names, if any, and where the words behind the name begin."""
        if self._may_open(line):
            label = labels.name_of(line)
            if label in self.speakers:
                return label, line.end()
            tight = _TIGHT.match(line.string, line.start("words"))
            if tight is not None and tight[1] in self.speakers:
                return tight[1], tight.end()
        return None, line.start("words") if line["time"] else line.start()

    def names_a_stranger(self, line: re.Match[str]) -> bool:
        """Whether a label that is not believed begins the words of another: nobody knows whose they are.

        It is where all other lines have one, where it looks like a name, and where it is a heading that comes back.
        """
        if not self.speakers or not self._may_open(line):
            return False
        if self.everywhere and _could_be_named(line):
            return True
        label = labels.name_of(line) or _marked(line)
        return label is not None and (labels.may_be_a_strangers(label) or label in self.headings)

    def opens(self, line: re.Match[str]) -> bool:
        """Whether a turn begins here."""
        timed = line["bracket"] or line["alone"] is not None or (self.timed and line["time"])
        return bool(timed) or self.name_in(line)[0] is not None or self.names_a_stranger(line)

    def _may_open(self, line: re.Match[str]) -> bool:
        return not self.on_top or _opens_paragraph(line)


def turns(text: str) -> Iterator[Turn]:
    """The turns; text before the first of them, or all of it, is a turn without a speaker.

    A time that stands alone is the start of the turn below it, and says nothing of who speaks.
    """
    proof = _proof(text)
    begin, speaker, times, waiting = 0, None, _UNTIMED, True
    for line in _LINE.finditer(text):
        if not proof.opens(line):
            continue
        speaker_here, words = proof.name_in(line)
        said = text[begin : line.start()]
        if waiting := waiting and not said.strip():
            times = _times(line) if line["time"] or line["behind"] else times
        else:
            yield _turn(said, speaker, times)
            times = _times(line)
        begin, speaker, waiting = words, speaker_here, line["alone"] is not None
    if text[begin:].strip() or not waiting:
        yield _turn(text[begin:], speaker, times)


def speakers(text: str) -> frozenset[str]:
    """The labels that are believed."""
    return _proof(text).speakers


def named_lines(text: str, known: frozenset[str] | None = None) -> list[int]:
    """Where the lines begin that name a speaker, or one of those who are known."""
    proof = _proof(text)
    if known is not None:
        return [line.start() for line in _LINE.finditer(text) if labels.name_of(line) in known]
    return [line.start() for line in _LINE.finditer(text) if proof.name_in(line)[0]]


def wall_times(text: str) -> int:
    """How many lines begin with a time of day (`10:15 AM`), which is no turn's start."""
    return sum(_is_on_the_wall(line) for line in _LINE.finditer(text))


def _proof(text: str) -> _Proof:
    lines = [
        (labels.name_of(line), _opens_paragraph(line), line["time"] is not None)
        for line in islice(_LINE.finditer(text), _EVIDENCE)
    ]
    seen = Counter(label for label, *_ in lines)
    back = {(label, opens) for label, opens, _ in lines if label and seen[label] > 1}
    on_top = len(back) > 1 and all(opens for _, opens in back)
    answered = _BREAKS_OFF.search(text) is None and _ASKS.search(text) is not None
    opening = [label if opens or not on_top else None for label, opens, _ in lines]
    timed = sum(timed for *_, timed in lines) >= max(2, _NEARLY_ALL * len(lines))
    found = labels.believed(opening, captions=timed, answered=answered)
    everywhere = all(label and labels.is_plausible(label) for label, opens, _ in lines if opens or not on_top)
    headings = frozenset(label for label, count in seen.items() if label and count > 1 and labels.is_heading(label))
    return _Proof(found, on_top, everywhere and bool(found), headings - found, timed)


def _marked(line: re.Match[str]) -> str | None:
    """A label between marks, such as `(Zoe): ` and `*Zoe: `."""
    marked = _MARKED.match(line.string, line.start("words"))
    return marked[1] if marked else None


def _could_be_named(line: re.Match[str]) -> bool:
    label = labels.name_of(line)
    return label is not None and labels.is_plausible(label)


def _opens_paragraph(line: re.Match[str]) -> bool:
    return line.start() == 0 or line.string.endswith("\n\n", 0, line.start())


def _times(line: re.Match[str]) -> _Times:
    time, end = line["time"] or line["behind"], line["end"]
    if time is None or _is_on_the_wall(line):
        return _UNTIMED
    return seconds(time), seconds(end) if end else None


def _is_on_the_wall(line: re.Match[str]) -> bool:
    return line["half"] is not None or line["date"] is not None


def _turn(text: str, speaker: str | None, times: _Times) -> Turn:
    return Turn(text=text.strip("\n"), speaker=speaker, start=times[0], end=times[1])
