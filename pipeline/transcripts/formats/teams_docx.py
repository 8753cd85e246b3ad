"""Teams' transcript in Word, or copied out of it: a paragraph is `Dana Kim   0:42`, a line break, and her words.

The paragraphs on top (title, date, length) are no speech; neither is who started and stopped the recording.
"""

import re

from pipeline.transcripts.headed import SPEAKER_AND_TIME, Section, above, has_times, headings, is_headed, sections
from pipeline.transcripts.omissions import left_out
from pipeline.transcripts.source import Parsed, Source, bounded

NAME = "teams_docx"

_THREE_BLANKS = 3
#: On top of the text or below somebody's words; on a line between two others it was said.
_EVENT = re.compile(r"(?:^|\n)[^\n]{1,120} (?:started|stopped) transcription\s{0,100}\Z")


def recognises(source: Source) -> bool:
    """Whether names and times stand above the words, three blanks apart."""
    if not (has_times(source.text) and is_headed(source.text, SPEAKER_AND_TIME)):
        return False
    first = next(headings(source.text, SPEAKER_AND_TIME))
    return len(first["gap"]) >= _THREE_BLANKS and "*" not in first[0]


def parse(source: Source) -> Parsed:
    """One turn for each heading."""
    found = list(bounded(sections(source.text, SPEAKER_AND_TIME)))
    events = [event[0] for section in found if (event := _EVENT.search(section.text))]
    warnings = left_out("front_matter_left_out", above(source.text, SPEAKER_AND_TIME), *events)
    return Parsed([_without_event(section).turn() for section in found], warnings)


def _without_event(section: Section) -> Section:
    return section._replace(text=_EVENT.sub("", section.text))
