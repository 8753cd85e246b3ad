"""Turns below a heading line of their own, which names the speaker and the time: `Dana Kim  0:42`, then her words.

A format gives its heading as a pattern that is anchored to a line and has the groups `name` and `time`, or `end` too.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from pipeline.domain.documents import Turn
from pipeline.transcripts.clock import seconds
from pipeline.transcripts.vendor import turn

#: M:SS or H:MM:SS; some exports in Chinese and Japanese write the wide colon.
TIME = r"[0-9]{1,3}(?:[:\uff1a][0-9]{2}){1,2}"

#: A preamble longer than this is not one.
_HEAD = 65_536


class Section(NamedTuple):
    """A heading's name (None where it is empty) and times in seconds, and what stands below it, without empty lines."""

    name: str | None
    time: float | None
    text: str
    end: float | None = None

    def turn(self) -> Turn:
        """The same as a turn."""
        return turn(self.text, self.name, self.time, self.end)


def sections(text: str, heading: re.Pattern[str]) -> Iterator[Section]:
    """All sections in their order; what stands above the first heading is in none."""
    last = None
    for match in heading.finditer(text):
        if last is not None:
            yield _section(last, text[last.end() : match.start()])
        last = match
    if last is not None:
        yield _section(last, text[last.end() :])


def above(text: str, heading: re.Pattern[str]) -> str:
    """What stands above the first heading."""
    first = heading.search(text)
    return text[: first.start()] if first else text


def is_headed(text: str, heading: re.Pattern[str]) -> bool:
    """Whether two headings near the top have words below them; one is enough where it is the first line.

    An agenda has the same lines, with nothing below them.
    """
    top = text[:_HEAD]
    spoken = sum(1 for section in sections(top, heading) if section.text.strip())
    return spoken > 1 or (spoken == 1 and not above(top, heading).strip())


def _section(heading: re.Match[str], text: str) -> Section:
    name = (heading["name"] or "").strip()
    end = heading.groupdict().get("end")
    time = heading["time"].replace("\uff1a", ":")
    return Section(name or None, seconds(time), text.strip("\n"), seconds(end) if end else None)
