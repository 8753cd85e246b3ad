"""Turns below a heading line of their own, which names the speaker and the time: `Dana Kim  0:42`, then her words.

A format gives its heading as a pattern that is anchored to a line and has the groups `name` and `time`, or `end` too.
Where it has a group `gap`, a single blank before the time proves nothing ("We met at 12:30"): such a heading counts
when it is bold, when its name comes back, or in the company of names that do.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from pipeline.domain.documents import Turn
from pipeline.transcripts import dialogue, labels
from pipeline.transcripts.clock import seconds
from pipeline.transcripts.source import TOP
from pipeline.transcripts.vendor import turn

#: M:SS or H:MM:SS; some exports in Chinese and Japanese write the wide colon.
TIME = r"[0-9]{1,3}(?:[:\uff1a][0-9]{2}){1,2}(?:\.[0-9]{1,3})?"

#: A start, or both times: `0:42 - 0:48`.
TIMES = rf"(?P<time>{TIME})(?:[ \t]{{0,2}}(?:-|\u2013|-->)[ \t]{{0,2}}(?P<end>{TIME}))?"

#: No part of a heading's name is a label: `Dana Kim: 12:30` is what Dana Kim says.
NAME_IN_HEADING = r"(?P<name>[^\s*](?:(?!:\s)[^\n*\uff1a]){0,119}?)(?<!:)"

#: A room may have a colon in its name ("Room 3: Berlin") where the time stands apart.
_NAME_APART = r"(?P<name>[^\s*][^\n*\uff1a]{0,119}?)(?<!:)"

#: `Dana Kim  0:42`, also bold, with a dash between, with both times, with these in brackets and words behind them.
SPEAKER_AND_TIME = re.compile(
    rf"^(?:#{{1,6}}[ \t]{{1,4}})?\*{{0,4}}{_NAME_APART}\*{{0,4}}"
    r"(?P<gap>[ \t\u00a0]{1,8})(?:[-\u2013\u2014|\u00b7\u2022][ \t]{1,4})?"
    rf"(?P<bracket>[\[(])?{TIMES} ?(?(bracket)[\])]:?[ \t]{{0,8}}|[ \t]{{0,8}}$)",
    re.MULTILINE,
)

_ANY_TIME = re.compile(r"[0-9][:\uff1a][0-9]{2}")
#: A preamble longer than this, and than what stands below it, is not one.
_TITLE = 4_096
_NEARLY_ALL = 0.8
_APART = 2
#: In a section, a line that may be somebody's heading all the same: a name and a time, or a time alone.
_STRAY = re.compile(
    rf"^[\[(]?(?P<name>[^\n]{{0,80}}?)[\])]?[ \t]{{0,8}}[\[(]?(?P<time>{TIME})[\])]?:?[ \t]{{0,8}}$", re.MULTILINE
)
_LABELLED = re.compile(r"^[ \t]{0,8}(?P<name>[^\n:]{1,119})(?P<colon>:(?=\s)|$)[ \t]?", re.MULTILINE)


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
    for match in headings(text, heading):
        if last is not None:
            yield _section(last, text[last.end() : match.start()])
        last = match
    if last is not None:
        yield _section(last, text[last.end() :])


def spoken(text: str, heading: re.Pattern[str]) -> Iterator[Section]:
    """The same, cut where another begins to speak: a name of a heading that stands alone or has a colon behind it.

    What looks like a heading and is none that is believed begins the words of nobody, itself among them.
    """
    names = {_name(match) for match in headings(text, heading) if match["name"]}
    for section in sections(text, heading):
        yield from _parts(section, names)


def front(text: str, heading: re.Pattern[str]) -> tuple[list[Turn], str]:
    """What stands above the first heading: a turn of nobody where somebody is named, else a text to be left out."""
    top = above(text, heading)
    names = {_name(match) for match in headings(text[:TOP], heading) if match["name"]}
    if any(labels.start(line)[0] in names for line in top.split("\n")):
        return [turn(top.strip("\n"), None, None, None)], ""
    return [], top


def _parts(section: Section, names: set[str]) -> Iterator[Section]:
    begin, part = 0, section
    for at, following in _strays(section.text, names):
        said = section.text[begin:at].strip("\n")
        if said or begin or part.name:
            yield part._replace(text=said)
        begin, part = at + following.skipped, following.section
    yield part._replace(text=section.text[begin:].strip("\n"))


class _Stray(NamedTuple):
    """Who goes on, and how many characters the name takes."""

    section: Section
    skipped: int


def _strays(text: str, names: set[str]) -> list[tuple[int, _Stray]]:
    found = {}
    for line in _STRAY.finditer(text):
        if not line["name"] or labels.may_be_a_strangers(line["name"].strip()):
            found[line.start()] = _Stray(Section(None, seconds(line["time"].replace("\uff1a", ":")), ""), 0)
    for line in _LABELLED.finditer(text):
        if (name := line["name"].strip()) in names:
            found[line.start()] = _Stray(Section(name, None, ""), line.end() - line.start())
    return sorted(found.items())


def headings(text: str, heading: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """All lines that are headings."""
    if "gap" not in heading.groupindex or heading.search(text) is None:
        return heading.finditer(text)
    names = labels.believed(match["name"] for match in heading.finditer(text))
    return (match for match in heading.finditer(text) if _is_one(match, names))


def above(text: str, heading: re.Pattern[str]) -> str:
    """What stands above the first heading."""
    first = next(headings(text, heading), None)
    return text[: first.start()] if first else text


def is_headed(text: str, heading: re.Pattern[str]) -> bool:
    """Whether two headings near the top have words below them; one is enough where it is the first line.

    An agenda has the same lines, with nothing below most of them; so has a dialogue in which somebody reads out times,
    but its labels outnumber them, or stand above the first.
    """
    top = text[:TOP]
    if heading.search(top) is None:
        return False
    found = list(sections(top, heading))
    spoken = sum(1 for section in found if section.text.strip())
    preamble = above(top, heading)
    if 2 * spoken < len(found) or spoken < (2 if preamble.strip() else 1) or len(preamble) > max(_TITLE, len(text) / 2):
        return False
    labelled = dialogue.named_lines(top)
    return len(labelled) <= len(found) and sum(place < len(preamble) for place in labelled) <= 1


def has_times(text: str) -> bool:
    """Whether there is a time near the top: most texts have none, and need no look at each line."""
    return _ANY_TIME.search(text, 0, TOP) is not None


def names_come_back(text: str, heading: re.Pattern[str]) -> bool:
    """Whether nearly all lines that look like headings hold a name that is there again, or is in such company."""
    names = [match["name"] for match in heading.finditer(text[:TOP]) if match["name"]]
    found = labels.believed(names)
    return sum(name in found for name in names) >= _NEARLY_ALL * len(names) > 0


def _is_one(heading: re.Match[str], names: frozenset[str]) -> bool:
    """Whether the name is believed, or the heading bold, or its name and time further apart than words are."""
    if not any(map(str.isalpha, heading["name"])) or (": " in heading["name"] and len(heading["gap"]) < _APART):
        return False
    return heading["name"] in names or len(heading["gap"]) > 1 or heading[0].startswith("*")


def _name(heading: re.Match[str]) -> str:
    """Without what stands between a name and a time."""
    return (heading["name"] or "").strip(" \t,@-\u2013\u2014")


def _section(heading: re.Match[str], text: str) -> Section:
    name = _name(heading)
    end = heading.groupdict().get("end")
    time = heading["time"].replace("\uff1a", ":")
    return Section(name or None, seconds(time), text.strip("\n"), seconds(end) if end else None)
