"""Teams' transcript in Word until 2023: `0:0:4.80 --> 0:0:7.120`, the name, and the words, each on a line.

These are no subtitles, which have zeros before their hours, or a number above their times.
"""

import re

from pipeline.transcripts.clock import padded
from pipeline.transcripts.headed import Section, above, sections
from pipeline.transcripts.omissions import left_out
from pipeline.transcripts.source import Parsed, Source, bounded

NAME = "teams_docx_old"

#: No field has a leading zero.
_CLOCK = r"(?:(?:0|[1-9][0-9]?):){2}(?:0|[1-9][0-9]?)\.[0-9]{1,3}"
_HEADING = re.compile(
    rf"^(?P<time>{_CLOCK}) --> (?P<end>{_CLOCK})[ \t]{{0,8}}\n(?P<name>[^\n]{{0,120}})$", re.MULTILINE
)


def recognises(source: Source) -> bool:
    """Whether two times and a name, on two lines, stand above somebody's words."""
    return any(section.text.strip() for section in sections(source.text, _HEADING))


def parse(source: Source) -> Parsed:
    """One turn for each pair of times."""
    text = padded(source.text)
    turns = [_spoken(section).turn() for section in bounded(sections(text, _HEADING))]
    return Parsed(turns, left_out("front_matter_left_out", above(text, _HEADING)))


def _spoken(section: Section) -> Section:
    """The section; a name with nothing below it is what somebody said whom Teams did not know."""
    return section if section.text.strip() else section._replace(name=None, text=section.name or "")
