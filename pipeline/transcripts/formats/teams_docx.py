"""Teams' transcript in Word, or copied out of it: a paragraph is `Dana Kim   0:42`, a line break, and her words.

The paragraphs on top (title, date, length) are no speech; neither is who started and stopped the recording.
Until 2023 a paragraph was `0:0:4.80 --> 0:0:7.120`, the name, and the words, each on a line.
"""

import re

from pipeline.transcripts.headed import TIME, Section, above, is_headed, sections
from pipeline.transcripts.omissions import left_out
from pipeline.transcripts.source import Parsed, Source, bounded

NAME = "teams_docx"

#: Any script: a pattern of Latin letters would lose who is not called in them.
_HEADING = re.compile(
    rf"^\*{{0,4}}(?P<name>[^\s*][^\n*]{{0,119}}?)\*{{0,4}}[ \t\u00a0]{{3,8}}(?P<time>{TIME})[ \t]{{0,8}}$", re.MULTILINE
)
#: No field has a leading zero, as in no subtitles.
_CLOCK = r"(?:(?:0|[1-9][0-9]?):){2}(?:0|[1-9][0-9]?)\.[0-9]{1,3}"
_OLD_HEADING = re.compile(
    rf"^(?P<time>{_CLOCK}) --> (?P<end>{_CLOCK})[ \t]{{0,8}}\n(?P<name>[^\n]{{0,120}})$", re.MULTILINE
)
_HEADINGS = (_HEADING, _OLD_HEADING)
_EVENT = re.compile(r"^[^\n]{1,120} (?:started|stopped) transcription[ \t]{0,8}\n?", re.MULTILINE)


def recognises(source: Source) -> bool:
    """Whether names and times stand above the words, three blanks or a line apart."""
    return any(is_headed(source.text, heading) for heading in _HEADINGS)


def parse(source: Source) -> Parsed:
    """One turn for each heading."""
    text = _EVENT.sub("", source.text)
    heading = next(heading for heading in _HEADINGS if is_headed(source.text, heading))
    turns = [_spoken(section).turn() for section in bounded(sections(text, heading))]
    events = "".join(_EVENT.findall(source.text))
    return Parsed(turns, left_out("front_matter_left_out", above(text, heading), events))


def _spoken(section: Section) -> Section:
    """The section; a name with nothing below it is what somebody said whom Teams did not know."""
    return section if section.text.strip() else section._replace(name=None, text=section.name or "")
