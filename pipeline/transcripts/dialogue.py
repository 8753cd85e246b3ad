"""Turns that lines of text open: `Speaker: text`, `[time] Speaker: text`, `[time] text`, or a time on a line alone.

A turn runs until the next line that opens one; the lines between belong to it. Empty lines around turns are layout.
"""

import re
from collections.abc import Iterator
from itertools import islice

from pipeline.domain.documents import Turn
from pipeline.transcripts import labels
from pipeline.transcripts.clock import CLOCK, seconds

#: Anchored and bounded, so that one line of fifty megabytes costs no more than its length.
_TIME = rf"(?P<bracket>[\[(])?(?P<time>{CLOCK})(?(bracket)[\])])(?:[ \t]{{1,8}}|$)(?P<alone>$)?"
_LINE = re.compile(rf"^[ \t]{{0,8}}(?=\S)(?:{_TIME})?(?P<words>)(?:{labels.LABEL})?", re.MULTILINE)
#: A line's end that asks, and one that ends no sentence.
_ASKS = re.compile(r"[?\uff1f\u061f][\"'\u201d\u2019)]{0,2}[ \t]{0,8}$", re.MULTILINE)
_BREAKS_OFF = re.compile(r"[^\s.!?\u2026\u3002\uff01\uff1f\u061f\"'\u201d\u2019)][ \t]{0,8}$", re.MULTILINE)
#: Whoever has not spoken in so many lines is not waited for.
_EVIDENCE = 100_000


def turns(text: str) -> Iterator[Turn]:
    """The turns; text before the first of them, or all of it, is a turn without a speaker.

    A time that stands alone is the start of the turn below it, and says nothing of who speaks.
    """
    answered = _BREAKS_OFF.search(text) is None and _ASKS.search(text) is not None
    speakers = labels.believed(map(labels.name_of, islice(_LINE.finditer(text), _EVIDENCE)), answered=answered)
    begin, speaker, start, waiting = 0, None, None, True
    for line in _LINE.finditer(text):
        label, alone = labels.name_of(line), line["alone"] is not None
        named = label in speakers
        if not (named or alone or line["bracket"]):
            continue
        said = text[begin : line.start()]
        if waiting := waiting and not said.strip():
            start = seconds(line["time"]) if line["time"] else start
        else:
            yield _turn(said, speaker, start)
            start = seconds(line["time"]) if line["time"] else None
        begin = line.end() if named else line.start("words")
        speaker, waiting = label if named else None, alone
    if text[begin:].strip() or not waiting:
        yield _turn(text[begin:], speaker, start)


def _turn(text: str, speaker: str | None, start: float | None) -> Turn:
    return Turn(text=text.strip("\n"), speaker=speaker, start=start)
