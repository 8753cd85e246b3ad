"""Speakers' names on lines of their own above their words, with times in some order or none: `[00:00:05] Dana Kim`.

So write Word's own transcription, Happy Scribe, Descript, many web pages, and people. Lines of speech look the same:
here nearly all of the lines that could be such headings must hold a name that comes back.
"""

import re

from pipeline.transcripts.headed import (
    NAME_IN_HEADING,
    TIMES,
    front,
    has_times,
    is_headed,
    names_come_back,
    spoken,
)
from pipeline.transcripts.omissions import left_out
from pipeline.transcripts.source import Parsed, Source, bounded

NAME = "name_lines"

_TIMES = rf"[\[(]?{TIMES}[\])]?"
_END = r":?[ \t]{0,8}$"
#: Each with an empty `gap`: nothing that stands between a name and a time proves anything.
_TIMED = tuple(
    re.compile(rf"^{heading}{_END}", re.MULTILINE)
    for heading in (
        rf"{_TIMES}(?P<gap>)[ \t]{{1,8}}(?:[-\u2013\u2014|\u00b7\u2022][ \t]{{1,4}})?{NAME_IN_HEADING}",
        rf"{NAME_IN_HEADING}(?P<gap>):?[ \t]{{0,8}}\n{_TIMES}",
        rf"{_TIMES}(?P<gap>)[ \t]{{0,8}}\n{NAME_IN_HEADING}",
    )
)
_UNTIMED = tuple(
    re.compile(rf"^(?P<gap>)(?P<time>){heading}{_END}", re.MULTILINE)
    for heading in (
        rf"(?:#{{1,6}}[ \t]{{1,4}}\*{{0,2}}|\*\*){NAME_IN_HEADING}:?\*{{0,2}}",
        rf"(?<![^\n]\n)(?=[^#\n][^\n]{{0,120}}\n[^\n]){NAME_IN_HEADING}(?<![.,])",
    )
)


def recognises(source: Source) -> bool:
    """Whether names stand above the words in one of these ways."""
    return _heading(source.text) is not None


def parse(source: Source) -> Parsed:
    """One turn for each heading."""
    heading = _heading(source.text) or _TIMED[0]
    top, title = front(source.text, heading)
    turns = [section.turn() for section in bounded(spoken(source.text, heading))]
    return Parsed([*top, *turns], left_out("front_matter_left_out", title))


def _heading(text: str) -> re.Pattern[str] | None:
    patterns = (*_TIMED, *_UNTIMED) if has_times(text) else _UNTIMED
    return next((heading for heading in patterns if names_come_back(text, heading) and is_headed(text, heading)), None)
