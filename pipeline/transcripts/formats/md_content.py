"""JSON around a text that is itself a transcript: {"ConversationId": ..., "Content": "**Agent:** ..."}.

The text is read by the rules of plain text. Source: microsoft/Conversation-Knowledge-Mining-Solution-Accelerator.
"""

import re

from pipeline.transcripts.formats import plain
from pipeline.transcripts.omissions import left_out
from pipeline.transcripts.source import Parsed, Source

NAME = "md_content"

#: A bold title above the conversation.
_TITLE = re.compile(r"\s{0,9}\*\*[^*\n]{1,200}\*\*\s{0,9}")

_KEYS = ("Content", "transcript")


def recognises(source: Source) -> bool:
    """Whether there is a text under one of the names."""
    return any(isinstance(source.at(key), str) for key in _KEYS)


def parse(source: Source) -> Parsed:
    """What the text says, without the title above it."""
    text = next(source.at(key) for key in _KEYS if isinstance(source.at(key), str))
    parsed = plain.parse(Source(text.encode()))
    if len(parsed.turns) < 2 or parsed.turns[0].speaker or not _TITLE.fullmatch(parsed.turns[0].text):
        return parsed
    return Parsed(parsed.turns[1:], (*parsed.warnings, *left_out("front_matter_left_out", parsed.turns[0].text)))
