"""What Whisper's commands print while they listen: `[00:00.000 --> 00:02.480]  Good morning.`

Source: openai/whisper and whisper.cpp, which writes the hours, too.
"""

import re

from pipeline.transcripts.clock import CLOCK
from pipeline.transcripts.headed import above, sections
from pipeline.transcripts.omissions import left_out
from pipeline.transcripts.source import Parsed, Source, bounded

NAME = "whisper_console"

_TIMES = rf"\[(?P<time>{CLOCK}) --> (?P<end>{CLOCK})\](?P<name>)[ \t]{{0,8}}"
_HEADING = re.compile(rf"^{_TIMES}", re.MULTILINE)
#: A command says a few things about itself before it listens.
_HEAD = 65_536


def recognises(source: Source) -> bool:
    """Whether a line near the top begins with two times in brackets."""
    return _HEADING.search(source.text, 0, _HEAD) is not None


def parse(source: Source) -> Parsed:
    """One turn for each pair of times; what a command says before the first is no speech."""
    turns = [section.turn() for section in bounded(sections(source.text, _HEADING))]
    return Parsed(turns, left_out("front_matter_left_out", above(source.text, _HEADING)))
