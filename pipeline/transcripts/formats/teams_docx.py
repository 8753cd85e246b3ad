"""Teams' transcript in Word, or copied out of it: a paragraph is `Dana Kim   0:42`, a line break, and her words.

The paragraphs on top (title, date, length) are no speech; neither is who started and stopped the recording.
Until 2023 a paragraph was `0:0:4.80 --> 0:0:7.120`, the name, and the words, each on a line.
"""

import re

from pipeline.transcripts.headed import SPEAKER_AND_TIME, Section, above, headings, is_headed, sections
from pipeline.transcripts.omissions import left_out
from pipeline.transcripts.source import Parsed, Source, bounded

NAME = "teams_docx"

_THREE_BLANKS = 3
#: No field has a leading zero, as in no subtitles.
_CLOCK = r"(?:(?:0|[1-9][0-9]?):){2}(?:0|[1-9][0-9]?)\.[0-9]{1,3}"
_OLD_HEADING = re.compile(
    rf"^(?P<time>{_CLOCK}) --> (?P<end>{_CLOCK})[ \t]{{0,8}}\n(?P<name>[^\n]{{0,120}})$", re.MULTILINE
)
_EVENT = re.compile(r"^[^\n]{1,120} (?:started|stopped) transcription[ \t]{0,8}\n?", re.MULTILINE)


def recognises(source: Source) -> bool:
    """Whether names and times stand above the words, three blanks or a line apart."""
    return _heading(source.text) is not None


def parse(source: Source) -> Parsed:
    """One turn for each heading."""
    text = _EVENT.sub("", source.text)
    heading = _heading(source.text) or SPEAKER_AND_TIME
    turns = [_spoken(section).turn() for section in bounded(sections(text, heading))]
    events = "".join(_EVENT.findall(source.text))
    return Parsed(turns, left_out("front_matter_left_out", above(text, heading), events))


def _heading(text: str) -> re.Pattern[str] | None:
    if is_headed(text, _OLD_HEADING):
        return _OLD_HEADING
    if not is_headed(text, SPEAKER_AND_TIME):
        return None
    first = next(headings(text, SPEAKER_AND_TIME))
    return SPEAKER_AND_TIME if len(first["gap"]) >= _THREE_BLANKS and "*" not in first[0] else None


def _spoken(section: Section) -> Section:
    """The section; a name with nothing below it is what somebody said whom Teams did not know."""
    return section if section.text.strip() else section._replace(name=None, text=section.name or "")
