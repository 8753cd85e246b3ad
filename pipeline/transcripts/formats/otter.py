"""Otter's text export, also where it was pasted into Markdown: `Dana Kim  0:42  `, then a paragraph.

By hand and by editors the blanks become one or four, and the time gets brackets: all of these are read.
`Unknown Speaker` is a label like any other. The footer is Otter's own, and stands in the middle of joined files.
"""

import re

from pipeline.transcripts.headed import SPEAKER_AND_TIME, front, has_times, is_headed, spoken
from pipeline.transcripts.omissions import left_out
from pipeline.transcripts.source import Parsed, Source, bounded

NAME = "otter"

_FOOTER = re.compile(r"^Transcribed by https://otter\.ai/?[ \t]{0,8}\n?", re.MULTILINE)


def recognises(source: Source) -> bool:
    """Whether names and times stand above the words."""
    return has_times(source.text) and is_headed(source.text, SPEAKER_AND_TIME)


def parse(source: Source) -> Parsed:
    """One turn for each paragraph."""
    text = _FOOTER.sub("", source.text)
    top, title = front(text, SPEAKER_AND_TIME)
    turns = [section.turn() for section in bounded(spoken(text, SPEAKER_AND_TIME))]
    footers = "".join(_FOOTER.findall(source.text))
    return Parsed([*top, *turns], left_out("front_matter_left_out", title, footers))
