"""Otter's text export, also where it was pasted into Markdown: `Dana Kim  0:42  `, then a paragraph.

`Unknown Speaker` is a label like any other. The footer is Otter's own, and stands in the middle of joined files.
"""

import re

from pipeline.transcripts.headed import TIME, above, is_headed, sections
from pipeline.transcripts.omissions import left_out
from pipeline.transcripts.source import Parsed, Source, bounded

NAME = "otter"

#: Two blanks, no more: Teams writes three.
_HEADING = re.compile(
    rf"^\*{{0,4}}(?P<name>[^\s*][^\n*]{{0,79}}?)\*{{0,4}}(?<=\S)  (?P<time>{TIME})[ \t]{{0,8}}$", re.MULTILINE
)
_FOOTER = re.compile(r"^Transcribed by https://otter\.ai/?[ \t]{0,8}\n?", re.MULTILINE)


def recognises(source: Source) -> bool:
    """Whether names and times stand on lines of their own, two blanks apart."""
    return is_headed(source.text, _HEADING)


def parse(source: Source) -> Parsed:
    """One turn for each paragraph."""
    text = _FOOTER.sub("", source.text)
    turns = [section.turn() for section in bounded(sections(text, _HEADING))]
    footers = "".join(_FOOTER.findall(source.text))
    return Parsed(turns, left_out("front_matter_left_out", above(text, _HEADING), footers))
