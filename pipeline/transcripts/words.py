"""Single words with times, as recognisers give them -> turns.

A turn ends where the speaker changes or where nobody says anything for two seconds. A word without a speaker goes on
with the one before it, for a failed diarization never discards text; one of NOBODY does not. Scripts that know no
blanks get none between words.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pipeline.domain.documents import Turn
from pipeline.transcripts.vendor import turn

PAUSE = 2.0
#: Chinese, Japanese and Thai, with the punctuation of the first two.
_NO_BLANKS = re.compile(r"[\u0e00-\u0e7f\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uff65\U00020000-\U0003ffff]")


#: The speaker of a word of whom a recogniser says that it does not know who speaks. None: it says nothing.
NOBODY = ""


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
    silent_since = None
    for word in words:
        if spoken and _begins_a_turn(word, spoken[0].speaker, silent_since):
            yield one_turn(spoken)
            spoken = []
        spoken.append(word)
        silent_since = next((time for time in (word.end, word.start) if time is not None), silent_since)
    if spoken:
        yield one_turn(spoken)


def one_turn(spoken: Sequence[Word]) -> Turn:
    """The words, of which there is at least one, as one turn of the first one's speaker."""
    start = next((word.start for word in spoken if word.start is not None), None)
    end = next((word.end for word in reversed(spoken) if word.end is not None), None)
    return turn("".join(_pieces(spoken)), spoken[0].speaker or None, start, end)


def _begins_a_turn(word: Word, speaker: str | None, silent_since: float | None) -> bool:
    if word.glued:
        return False
    if word.speaker is not None and word.speaker != speaker:
        return True
    return word.start is not None and silent_since is not None and word.start - silent_since >= PAUSE


def _pieces(spoken: Sequence[Word]) -> Iterator[str]:
    before = ""
    for word in spoken:
        if before and not word.glued and not _touch(before, word.text):
            yield " "
        yield word.text
        before = word.text or before


def _touch(before: str, after: str) -> bool:
    """Whether two words stand side by side without a blank."""
    return bool(_NO_BLANKS.match(before[-1:]) and _NO_BLANKS.match(after))
