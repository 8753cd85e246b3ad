"""A time and a speaker's name above the words, where the time comes first or each has a line: `[00:00:05] Dana Kim`.

So write Word's own transcription, Happy Scribe, Descript and many web pages. Lines of speech with a time in front look
the same: here nearly all of the lines must hold a name that comes back.
"""

import re

from pipeline.transcripts.headed import NAME_IN_HEADING, TIME, above, is_headed, names_come_back, sections
from pipeline.transcripts.omissions import left_out
from pipeline.transcripts.source import Parsed, Source, bounded

NAME = "time_and_name"

_TIMES = rf"[\[(]?(?P<time>{TIME})(?:[ \t]{{0,2}}(?:-|\u2013|-->)[ \t]{{0,2}}(?P<end>{TIME}))?[\])]?"
#: What stands between them proves nothing, so each name must come back.
_HEADINGS = tuple(
    re.compile(rf"^{heading}:?[ \t]{{0,8}}$", re.MULTILINE)
    for heading in (
        rf"{_TIMES}(?P<gap>)[ \t]{{1,8}}(?:[-\u2013\u2014|\u00b7\u2022][ \t]{{1,4}})?{NAME_IN_HEADING}",
        rf"{NAME_IN_HEADING}(?P<gap>):?[ \t]{{0,8}}\n{_TIMES}",
        rf"{_TIMES}(?P<gap>)[ \t]{{0,8}}\n{NAME_IN_HEADING}",
    )
)


def recognises(source: Source) -> bool:
    """Whether times and names stand above the words in one of these orders."""
    return _heading(source.text) is not None


def parse(source: Source) -> Parsed:
    """One turn for each heading."""
    heading = _heading(source.text) or _HEADINGS[0]
    turns = [section.turn() for section in bounded(sections(source.text, heading))]
    return Parsed(turns, left_out("front_matter_left_out", above(source.text, heading)))


def _heading(text: str) -> re.Pattern[str] | None:
    return next((heading for heading in _HEADINGS if names_come_back(text, heading) and is_headed(text, heading)), None)
