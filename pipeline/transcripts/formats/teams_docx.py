"""Teams' transcript in Word, or copied out of it: a paragraph is `Dana Kim   0:42`, a line break, and her words.

The paragraphs on top (title, date, length) are no speech; neither is who started and stopped the recording.
"""

import re

from pipeline.transcripts.headed import TIME, above, is_headed, sections
from pipeline.transcripts.omissions import left_out
from pipeline.transcripts.source import Parsed, Source, bounded

NAME = "teams_docx"

#: Any script: a pattern of Latin letters would lose who is not called in them.
_HEADING = re.compile(
    rf"^\*{{0,4}}(?P<name>[^\s*][^\n*]{{0,119}}?)\*{{0,4}}[ \t\u00a0]{{3,8}}(?P<time>{TIME})[ \t]{{0,8}}$", re.MULTILINE
)
_EVENT = re.compile(r"^[^\n]{1,120} (?:started|stopped) transcription[ \t]{0,8}\n?", re.MULTILINE)


def recognises(source: Source) -> bool:
    """Whether names and times stand on lines of their own, three blanks apart."""
    return is_headed(source.text, _HEADING)


def parse(source: Source) -> Parsed:
    """One turn for each heading."""
    text = _EVENT.sub("", source.text)
    turns = [section.turn() for section in bounded(sections(text, _HEADING))]
    events = "".join(_EVENT.findall(source.text))
    return Parsed(turns, left_out("front_matter_left_out", above(text, _HEADING), events))
