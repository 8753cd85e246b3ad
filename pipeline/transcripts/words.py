"""Single words with times, as recognisers give them -> turns.

A turn ends where the speaker changes or where nobody says anything for two seconds. A word without a speaker goes on
with the one before it: a failed diarization never discards text.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pipeline.domain.documents import Turn
from pipeline.transcripts.vendor import turn

PAUSE = 2.0


class Word(NamedTuple):
    """`glued`: written without a blank before it, as punctuation is. Times in seconds."""

    text: str
    speaker: str | None = None
    start: float | None = None
    end: float | None = None
    glued: bool = False


def turns(words: Iterable[Word]) -> Iterator[Turn]:
    """The words as turns, in their order."""
    spoken: list[Word] = []
    for word in words:
        if spoken and _begins_a_turn(word, spoken):
            yield _turn(spoken)
            spoken = []
        spoken.append(word)
    if spoken:
        yield _turn(spoken)


def _begins_a_turn(word: Word, spoken: list[Word]) -> bool:
    if word.glued:
        return False
    speaker, last = spoken[0].speaker, spoken[-1]
    if word.speaker is not None and word.speaker != speaker:
        return True
    return word.start is not None and last.end is not None and word.start - last.end >= PAUSE


def _turn(spoken: list[Word]) -> Turn:
    text = "".join(word.text if word.glued or not index else f" {word.text}" for index, word in enumerate(spoken))
    start = next((word.start for word in spoken if word.start is not None), None)
    end = next((word.end for word in reversed(spoken) if word.end is not None), None)
    return turn(text, spoken[0].speaker, start, end)
