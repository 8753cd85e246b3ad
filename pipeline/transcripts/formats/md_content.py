"""JSON around a text that is itself a transcript: {"ConversationId": ..., "Content": "**Agent:** ..."}.

The text is read as a file of its own would be. Source: microsoft/Conversation-Knowledge-Mining-Solution-Accelerator.
"""

import re

from pipeline.transcripts.answers import summaries, written_in
from pipeline.transcripts.formats import chat_messages, turns
from pipeline.transcripts.omissions import left_out
from pipeline.transcripts.source import Parsed, Source

NAME = "md_content"

#: A bold title above the conversation, which is no speaker's name.
_TITLE = re.compile(r"\s{0,9}(\*\*[^*\n]{0,199}[^*:\n]\*\*)\s{0,9}\n(?=\*\*)")
_KEYS = ("Content", "transcript")


def recognises(source: Source) -> bool:
    """Whether there is a text under one of the names, and no list of its turns beside it, which says more."""
    return any(isinstance(source.at(key), str) for key in _KEYS) and not turns.turns_in(source)


def parse(source: Source) -> Parsed:
    """The text, without the title above it."""
    text = next(source.at(key) for key in _KEYS if isinstance(source.at(key), str))
    title = _TITLE.match(text)
    doubts = (*summaries(written_in(source)), *chat_messages.beside(source))
    if title is None or title[1] in text[title.end() :]:
        return Parsed([], doubts, within=text)
    return Parsed([], (*left_out("front_matter_left_out", title[1]), *doubts), within=text[title.end() :])
