"""Whether anybody says anything: what is written for sounds and for silence is set aside before words are counted."""

import re
from collections.abc import Iterable, Iterator

from pipeline.domain.documents import Turn
from pipeline.domain.evidence import SHORTEST_QUOTE
from pipeline.errors import ItemFailure

#: [Music], [BLANK_AUDIO], (silence), <INAUDIBLE_SPEECH/>, *laughs*, ♪ la la ♪: short and on one line, as speech in
#: brackets would not be. Every part is bounded, so that time is linear.
_SOUND = re.compile(
    r"\[[^][\n]{0,60}\]|\([^()\n]{0,60}\)|<[^<>\n]{1,60}>|\*{1,2}[^*\n]{1,60}\*{1,2}|[♩♪♫♬][^♩♪♫♬\n]{0,200}[♩♪♫♬]"
)
_WORD = re.compile(r"[^\W_]")
_PIECE = 65_536


def require(turns: Iterable[Turn]) -> None:
    """Let pass what can be summarized and quoted.

    Raises ItemFailure: empty_input (no words at all), too_short (fewer characters than the shortest quote has).
    """
    said = 0
    for text in _pieces(turns):
        said += _length(text)
        if said >= SHORTEST_QUOTE:
            return
    raise _too_short() if said else nobody_speaks()


def nobody_speaks() -> ItemFailure:
    """The failure of a transcript without a single word."""
    return ItemFailure("empty_input", "nobody says a word: check the export, or leave the document out")


def _pieces(turns: Iterable[Turn]) -> Iterator[str]:
    """What is said, in pieces: a turn of sixty megabytes, taken apart into words, would fill the memory."""
    for turn in turns:
        yield from (turn.text[start : start + _PIECE] for start in range(0, len(turn.text), _PIECE))


def _length(text: str) -> int:
    """How many characters are said, with blanks between words; 0 where there is no word."""
    words = " ".join(_SOUND.sub(" ", text).split())
    return len(words) if _WORD.search(words) else 0


def _too_short() -> ItemFailure:
    return ItemFailure(
        "too_short",
        f"fewer than {SHORTEST_QUOTE} characters are said, and no quote is shorter: check the export, or leave the "
        "document out",
    )
