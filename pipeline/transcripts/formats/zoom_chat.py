"""The chat of a Zoom meeting, which lies beside the transcript and is not speech: cloud and saved, old and new.

`00:06:27<TAB>Dana Kim:<TAB>hi`, `08:58:13<TAB> From Dana Kim : hi`, and `09:01:02 From Dana Kim to Everyone:` with the
words below. A message ends where the next one begins: answers hold line feeds of their own.
"""

import re
from itertools import islice

from pipeline.transcripts.headed import sections
from pipeline.transcripts.source import CHAT, MAX_TURNS, Parsed, Source

NAME = "zoom_chat"

_TIME = r"(?:[0-9]{4}-[0-9]{2}-[0-9]{2} )?(?P<time>[0-9]{2}:[0-9]{2}:[0-9]{2})"
_FROM = r"[ \t]{1,4}From[ \t]{1,4}(?P<name>[^\n\t]{1,200}?)[ \t]?:(?=[ \t\n]|$)"
_CLOUD = r"\t(?P<name>[^\n\t]{1,200}):\t"
_HEADINGS = tuple(re.compile(f"^{_TIME}{name}", re.MULTILINE) for name in (_CLOUD, _FROM))
_INK = re.compile(r"\S")


def recognises(source: Source) -> bool:
    """Whether the first line is a message."""
    return _heading(source) is not None


def parse(source: Source) -> Parsed:
    """One turn for each message, of as many as a call may have, though no call is read from them."""
    found = islice(sections(source.text, _heading(source) or _HEADINGS[0]), MAX_TURNS)
    return Parsed([message.turn() for message in found], instead=CHAT)


def _heading(source: Source) -> re.Pattern[str] | None:
    ink = _INK.search(source.text)
    begin = ink.start() if ink else 0
    return next((heading for heading in _HEADINGS if heading.match(source.text, begin)), None)
