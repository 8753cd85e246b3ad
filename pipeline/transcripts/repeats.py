"""What a tool wrote twice and nobody said twice: equal cues, and the loops of a recogniser in silence.

A loop is a phrase that comes eight times in a row and compresses by more than 2.4, the ratio at which Whisper's own
decoder gives a segment up (`compression_ratio_threshold` in its transcribe.py): nine times "no" is below it, twenty
times is not. Or it is one text in five turns of a speaker in a row: people answer "yes" three times.
"""

import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import count

from pipeline.domain.documents import Turn, Warning

_MOST_TURNS = 4
_RATIO = 2.4
#: A word of a loop is written the same at least so often, whatever stands behind the first and the last of it.
_OFTEN = 6
#: Below this many characters nothing compresses by the ratio: zlib alone adds eight bytes.
_SHORTEST = 24
#: On words that are one character each. In scripts without blanks a word is a character, and a phrase has more of them.
_PHRASE_OF_WORDS = re.compile(r"(.{1,12}?)\1{7,}", re.DOTALL)
_PHRASE_OF_CHARACTERS = re.compile(r"(.{1,24}?)\1{7,}", re.DOTALL)
_CHARACTERS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u31ff\u3400-\u9fff"
    "\uf900-\ufaff\uff66-\uff9f"
)
_WORD = re.compile(rf"[{_CHARACTERS}]|[^\W{_CHARACTERS}]+")
#: A turn longer than any that is said is looked at in pieces of so many characters, so that memory stays bounded.
_PIECE = 1_000_000


def settle(turns: Sequence[Turn]) -> tuple[list[Turn], tuple[Warning, ...]]:
    """The turns without what was only written again: the first of equal ones stays, and of a loop one phrase."""
    distinct = list(_distinct(turns))
    kept: list[Turn] = []
    looped: list[int] = []
    for turn, repeats in _runs(distinct):
        text = without_loops(turn.text)
        if repeats or text != turn.text:
            looped.append(len(kept))
        kept.append(turn if text == turn.text else turn.model_copy(update={"text": text}))
    return kept, tuple(_doubts(len(turns) - len(distinct), looped))


def without_loops(text: str) -> str:
    """The text in which each loop stands once; time grows with its length alone."""
    if len(text) < _SHORTEST or not _repeats_itself(text):
        return text
    kept, begin = [], 0
    for start, end in _surplus(text):
        kept.append(text[begin:start])
        begin = end
    return "".join((*kept, text[begin:]))


def _distinct(turns: Iterable[Turn]) -> Iterator[Turn]:
    """Without cues that equal the one before in speaker, words and both times."""
    last = None
    for turn in turns:
        if last is None or turn.text != last.text or turn != last or not _is_timed(turn):
            yield turn
        last = turn


def _is_timed(turn: Turn) -> bool:
    return turn.start is not None and turn.end is not None and bool(turn.text.strip())


def _runs(turns: Sequence[Turn]) -> Iterator[tuple[Turn, bool]]:
    """Each turn that stays, and whether it stands for others that say the same."""
    texts = [turn.text.strip() for turn in turns]
    begin = 0
    for end in range(1, len(turns) + 1):
        if end < len(turns) and texts[end] == texts[begin] and turns[end].speaker == turns[begin].speaker:
            continue
        if end - begin > _MOST_TURNS and texts[begin]:
            yield turns[begin], True
        else:
            yield from ((turn, False) for turn in turns[begin:end])
        begin = end


def _doubts(duplicates: int, looped: Sequence[int]) -> Iterator[Warning]:
    if duplicates:
        yield Warning(code="duplicate_turns", place=f"{duplicates} turns")
    if looped:
        more = f" and {len(looped) - 1} more" if len(looped) > 1 else ""
        yield Warning(code="loop_collapsed", place=f"turn {looped[0]}{more}")


def _repeats_itself(text: str) -> bool:
    """Whether any word comes so often that there may be a loop, which costs little to know of most turns."""
    if len(text) > _PIECE:
        return True
    words = text.split() if text.isascii() else text
    if len(words) - len(set(words)) < _OFTEN - 1:  # as in nearly all turns
        return False
    return max(Counter(words).values()) >= _OFTEN


def _surplus(text: str) -> Iterator[tuple[int, int]]:
    """Where the characters stand that repeat a phrase, in order."""
    loop_of = _PHRASE_OF_WORDS if text.isascii() else _PHRASE_OF_CHARACTERS
    lowered = text.lower()
    plain = lowered if len(lowered) == len(text) else text  # one letter in Turkish becomes two
    for begin in range(0, len(text), _PIECE):
        piece = (plain, begin, begin + _PIECE)
        loops = list(loop_of.finditer(_numbered(_WORD.findall(*piece))))
        words = list(_WORD.finditer(*piece)) if loops else []
        for loop in loops:
            end = words[loop.end() - 1].end()
            if _ratio(text[words[loop.start()].start() : end]) > _RATIO:
                yield words[loop.end(1) - 1].end(), end


def _numbered(words: Iterable[str]) -> str:
    """The words as a text of one character for each, equal ones for equal words: a pattern then sees whole words."""
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    return "".join(map(chr, map(numbers.__getitem__, words)))


def _ratio(text: str) -> float:
    data = text.encode()
    return len(data) / len(zlib.compress(data))
