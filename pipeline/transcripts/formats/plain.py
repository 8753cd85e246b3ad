"""Plain text: `Speaker: text`, `[time] Speaker: text`, `[time] text`, or one block in which nobody is named.

A turn runs until the next line that opens one; the lines between belong to it. Empty lines around turns are layout.
"""

import re
from collections.abc import Iterator
from itertools import islice

from pipeline.domain.documents import Turn
from pipeline.transcripts import labels
from pipeline.transcripts.clock import CLOCK, seconds
from pipeline.transcripts.source import Parsed, Source, bounded

NAME = "plain"

#: Anchored and bounded, so that one line of fifty megabytes costs no more than its length.
_TIME = rf"(?P<bracket>[\[(])?(?P<time>{CLOCK})(?(bracket)[\])])(?:[ \t]{{1,8}}|$)"
_LINE = re.compile(rf"^[ \t]{{0,8}}(?=\S)(?:{_TIME})?(?P<words>)(?:{labels.LABEL})?", re.MULTILINE)
#: Whoever has not spoken in so many lines is not waited for.
_EVIDENCE = 100_000


def recognises(source: Source) -> bool:
    """Any text is plain text; raises ItemFailure(unreadable_input) where the bytes are none."""
    return source.decoded is not None


def parse(source: Source) -> Parsed:
    """The turns; text before the first of them, or all of it, is a turn without a speaker."""
    return Parsed(list(bounded(_turns(source.text))))


def _turns(text: str) -> Iterator[Turn]:
    speakers = labels.believed(map(labels.name_of, islice(_LINE.finditer(text), _EVIDENCE)))
    begin, speaker, start = 0, None, None
    for line in _LINE.finditer(text):
        label = labels.name_of(line)
        named = label in speakers
        if not named and not line["bracket"]:
            continue
        if begin or text[: line.start()].strip():
            yield _turn(text[begin : line.start()], speaker, start)
        begin = line.end() if named else line.start("words")
        speaker = label if named else None
        start = seconds(line["time"]) if line["time"] else None
    yield _turn(text[begin:], speaker, start)


def _turn(text: str, speaker: str | None, start: float | None) -> Turn:
    return Turn(text=text.strip("\n"), speaker=speaker, start=start)
