"""An IRC log in which a Transcriber relays what is said: `[2025-04-01T16:02:20Z]<TAB><Transcriber><TAB>Dana: hello`.

The other lines are the chat beside the call, and a log without a Transcriber is nothing else.
Source: the logs of the W3C's groups.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from itertools import chain, pairwise
from typing import NamedTuple

from pipeline.domain.documents import Turn, Warning
from pipeline.transcripts.omissions import unreadable_times
from pipeline.transcripts.source import CHAT, Parsed, Source, bounded

NAME = "irc"

_START = (
    r"^\[(?P<time>[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?)Z?\]\t"
    r"<(?P<nick>[^\t\n]{1,200})>\t"
)
_LINE = re.compile(_START, re.MULTILINE)
_FIRST = re.compile(rf"\s{{0,1000}}{_START}", re.MULTILINE)
_SAID = re.compile(r"(?P<name>[^:\n]{1,200}): ")
#: What the minutes' robot understands is an instruction to it.
_COMMAND = re.compile(
    r"meeting|agenda|(?:sub)?topic|chairs?|scribe|present|regrets|date|action|resolution", re.IGNORECASE
)


class _Line(NamedTuple):
    """One message; `name` is who says it aloud, where a Transcriber relays it."""

    time: str
    name: str | None
    text: str


def recognises(source: Source) -> bool:
    """Whether the first line has a time, a nick and a message."""
    return _FIRST.match(source.text) is not None


def parse(source: Source) -> Parsed:
    """One turn for each line that a Transcriber relays; times are seconds from the first of them."""
    spoken = list(bounded(line for line in _lines(source.text) if line.name))
    if not spoken:
        return Parsed([], instead=CHAT)
    chat = sum(1 for _ in _LINE.finditer(source.text)) - len(spoken)
    unread = sum(1 for line in spoken if _moment(line) is None)
    return Parsed(list(_turns(spoken)), tuple(_doubts(chat, unread)))


def _doubts(chat: int, unread: int) -> Iterator[Warning]:
    if chat:
        yield Warning(code="chat_left_out", place=f"{chat} messages")
    yield from unreadable_times(unread)


def _lines(text: str) -> Iterator[_Line]:
    """A message may have several lines: it ends where the next one begins."""
    for start, following in pairwise(chain(_LINE.finditer(text), [None])):
        if start is not None:
            end = following.start() if following else len(text)
            yield _line(start, text[start.end() : end].strip("\n"))


def _line(start: re.Match[str], text: str) -> _Line:
    said = _SAID.match(text) if start["nick"].strip("_").casefold() == "transcriber" else None
    if said is None or _COMMAND.fullmatch(said["name"]):
        return _Line(start["time"], None, text)
    return _Line(start["time"], said["name"], text[said.end() :])


def _turns(spoken: list[_Line]) -> Iterator[Turn]:
    moments = [_moment(line) for line in spoken]
    first = min(filter(None, moments), default=None)
    for line, moment in zip(spoken, moments, strict=True):
        start = (moment - first).total_seconds() if moment and first else None
        yield Turn(text=line.text, speaker=line.name, start=start)


def _moment(line: _Line) -> datetime | None:
    try:
        return datetime.fromisoformat(line.time)
    except ValueError:
        return None
