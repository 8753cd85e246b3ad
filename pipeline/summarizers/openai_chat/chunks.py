"""Cutting a long call into parts that a model can read: by turns, then lines, sentences, words, characters.

Never inside a grapheme, and every character of every turn is in exactly one part, in order. Pure: what a piece of text
costs is the caller's to say.
"""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import regex

from pipeline.domain.documents import Transcript
from pipeline.errors import ItemFailure

#: Where a turn that is too long is cut, best first: after a line, a sentence, a word.
_BOUNDARIES: Final = (
    regex.compile(r"\n+"),
    regex.compile(r"""[.!?\u2026][")'\]\u2019\u201d]*\s+|[\u3002\uff01\uff1f]+"""),
    regex.compile(r"\s+"),
)
_GRAPHEME: Final = regex.compile(r"\X")
#: Of most languages, roughly: where the search for a cut begins.
_CHARACTERS_A_TOKEN: Final = 4


class Span(NamedTuple):
    """A stretch of one turn's text, in code points."""

    turn: int
    start: int
    end: int


Chunk = tuple[Span, ...]
#: Tokens of a stretch as the model is shown it, its number and speaker included; above the limit any number above it.
Cost = Callable[[Span, int], int]


def cut(transcript: Transcript, budget: int, cost: Cost) -> list[Chunk]:
    """The transcript in chunks that cost `budget` tokens at most; one where all of it fits.

    Raises ItemFailure `input_too_large` where a single character does not fit.
    """
    chunks: list[Chunk] = []
    held: list[Span] = []
    spent = 0
    for span in _pieces(transcript, budget, cost):
        price = cost(span, budget)
        if held and spent + price > budget:
            chunks.append(tuple(held))
            held, spent = [], 0
        held.append(span)
        spent += price
    if held:
        chunks.append(tuple(held))
    return chunks


def covers(chunk: Chunk) -> str:
    """What a chunk covers, as calls record it: first turn and character, last turn and the character after its end."""
    first, last = chunk[0], chunk[-1]
    return f"{first.turn}:{first.start}-{last.turn}:{last.end}"


def is_complete(chunks: list[Chunk], transcript: Transcript) -> bool:
    """Whether every character of every turn is in exactly one chunk, in order."""
    due = [(number, 0) for number, turn in enumerate(transcript.turns) if not turn.text]
    spans = [span for chunk in chunks for span in chunk]
    ends = dict(due)
    before = (-1, 0)
    for span in spans:
        if span.start != ends.get(span.turn, 0) or (span.turn, span.start) < before:
            return False
        ends[span.turn] = span.end
        before = (span.turn, span.start)
    return all(ends.get(number) == len(turn.text) for number, turn in enumerate(transcript.turns))


def _pieces(transcript: Transcript, budget: int, cost: Cost) -> Iterator[Span]:
    """Whole turns, and the parts of those that fit nowhere."""
    for number, turn in enumerate(transcript.turns):
        whole = Span(number, 0, len(turn.text))
        if cost(whole, budget) <= budget:
            yield whole
        else:
            yield from _parts(turn.text, number, budget, cost)


def _parts(text: str, number: int, budget: int, cost: Cost) -> Iterator[Span]:
    start = 0
    while start < len(text):
        longest = _longest(number, start, len(text), budget, cost)
        end = len(text) if longest == len(text) else _boundary(text, start, longest)
        if end <= start:
            raise ItemFailure("input_too_large", f"a character of turn {number} is longer than a whole call may be")
        yield Span(number, start, end)
        start = end


def _longest(number: int, start: int, length: int, budget: int, cost: Cost) -> int:
    """The furthest end that fits, or a fiftieth before it.

    It is looked for in steps, since a count of all the rest would cost the square of it.
    """
    fits, too_far = start, length + 1
    step = _CHARACTERS_A_TOKEN * budget
    while too_far - fits > max(1, (fits - start) // 50):
        end = min(fits + step, too_far - 1)
        if cost(Span(number, start, end), budget) <= budget:
            fits = end
            step *= 2
        else:
            too_far = end
            step = max(1, (too_far - fits) // 2)
    return fits


def _boundary(text: str, start: int, end: int) -> int:
    """The best place to cut in the second half of the piece, else the last place between two graphemes."""
    half = start + (end - start) // 2
    for boundary in _BOUNDARIES:
        last = None
        for last in boundary.finditer(text, half, end):  # noqa: B007 - the last one counts
            pass
        if last is not None and last.end() > start:
            return _between_graphemes(text, start, last.end())
    return _between_graphemes(text, start, end)


def _between_graphemes(text: str, start: int, end: int) -> int:
    """The last place between two graphemes that is not after `end`; `start` where there is none.

    Read from the piece's start, which is such a place: from anywhere else flags would be paired wrongly. Only the piece
    is read, and one more: for each flag all those before it are counted.
    """
    piece, place = text[start : end + 1], 0
    for grapheme in _GRAPHEME.finditer(piece):
        if start + grapheme.end() > end:
            break
        place = grapheme.end()
    return start + place
