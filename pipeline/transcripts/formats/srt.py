"""SubRip, and any other file with timing lines: numbered cues whose times have a decimal comma."""

import re

from pipeline.transcripts.captions import labelled, rolling, scroll
from pipeline.transcripts.clock import CLOCK, padded
from pipeline.transcripts.cues import cues, doubts
from pipeline.transcripts.markup import without_tags
from pipeline.transcripts.source import Parsed, Source, bounded

NAME = "srt"

_TIMING = re.compile(rf"^[ \t]{{0,8}}{CLOCK}[ \t]{{0,8}}-->[ \t]{{0,8}}{CLOCK}", re.MULTILINE)
#: A line of blanks separates cues as an empty one does.
_BLANKS = re.compile(r"\n[ \t]+(?=\n)")


def recognises(source: Source) -> bool:
    """Whether there is a timing line near the top."""
    return _TIMING.search(source.top) is not None


def parse(source: Source) -> Parsed:
    """One turn for each cue. SubRip names the speaker only where it changes, so a name holds until the next."""
    text = _BLANKS.sub("\n", padded(source.text))
    found = list(bounded(cues(text)))
    texts = [without_tags(cue.text) for cue in found]
    turns = rolling(found, texts) if scroll(texts) else labelled(found, texts, carry=True)
    return Parsed(list(bounded(turns)), tuple(doubts(found, text)))
