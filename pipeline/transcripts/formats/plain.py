"""Plain text: a dialogue as `dialogue` reads it, or one block in which nobody is named.

YAML between two rules on top of a Markdown file is about the text, not of it.
"""

import re

from pipeline.transcripts import dialogue
from pipeline.transcripts.cues import lost, timing_like
from pipeline.transcripts.omissions import left_out, unreadable_times
from pipeline.transcripts.source import Parsed, Source, bounded

NAME = "plain"

#: Keys with values, list items, what is indented below them: each line is of one kind only, or time would explode.
_YAML = r"(?:[\w.-]{1,60}:(?:[ \t][^\n]{0,2000})?|[ \t][^\n]{0,2000}|-[ \t][^\n]{0,2000}|)\n"
_FRONT_MATTER = re.compile(rf"\s{{0,100}}^---[ \t]{{0,8}}\n(?:{_YAML}){{1,200}}---[ \t]{{0,8}}$", re.MULTILINE)

#: A value of several words that ends as a sentence does.
_SAID = re.compile(r"^[\w.-]{1,60}:[ \t]\S{1,60}[ \t]\S{1,60}[ \t][^\n]{0,2000}[.?!][ \t]{0,8}$", re.MULTILINE)
_KEY = re.compile(r"^([\w.-]{1,60}):", re.MULTILINE)


def recognises(source: Source) -> bool:
    """Any text is plain text; raises ItemFailure(unreadable_input) where the bytes are none."""
    return source.decoded is not None


def parse(source: Source) -> Parsed:
    """The turns of the dialogue."""
    front, text = _parted(source.text)
    wall = dialogue.wall_times(text)
    turns = list(bounded(dialogue.turns(text)))
    return Parsed(
        turns,
        (
            *left_out("front_matter_left_out", front),
            *unreadable_times(wall),
            *lost(timing_like(text), wall + sum(turn.start is not None for turn in turns)),
        ),
    )


def _parted(text: str) -> tuple[str, str]:
    """The front matter, and the text below it. Speech between two rules has a name twice, or one that comes back."""
    front = _FRONT_MATTER.match(text)
    if front is None:
        return "", text
    keys = _KEY.findall(front[0])
    below = text[front.end() :]
    is_speech = (
        len(set(keys)) < len(keys)
        or not set(keys).isdisjoint(_KEY.findall(below))
        or _SAID.search(front[0]) is not None
    )
    return ("", text) if is_speech or not below.strip() else (front[0], below)
