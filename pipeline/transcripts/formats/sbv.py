"""YouTube's captions as its editor saves them: `0:00:01.000,0:00:03.480`, and the words below.

But for the comma they are as all cues are, and are read as these, garbage and all.
"""

import re

from pipeline.transcripts.captions import labelled
from pipeline.transcripts.cues import cues, doubts
from pipeline.transcripts.source import Parsed, Source, bounded

NAME = "sbv"

_CLOCK = r"[0-9]{1,2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}"
_FIRST = re.compile(rf"\s{{0,1000}}{_CLOCK},{_CLOCK}[ \t]{{0,8}}$", re.MULTILINE)
#: Two times, even if nobody can read them.
_TIMES = re.compile(r"^([^\s,]{0,16}[0-9]:[^\s,]{0,16}),([^\s,]{0,16}[0-9]:[^\s,]{0,16})(?=[ \t]*$)", re.MULTILINE)


def recognises(source: Source) -> bool:
    """Whether the first line is two times with a comma between them."""
    return _FIRST.match(source.text) is not None


def parse(source: Source) -> Parsed:
    """One turn for each cue, or for each speaker in it."""
    text = _TIMES.sub(r"\1 --> \2", source.text)
    found = list(bounded(cues(text)))
    turns = labelled(found, [cue.text for cue in found], carry=False)
    return Parsed(list(bounded(turns)), tuple(doubts(found, text)))
