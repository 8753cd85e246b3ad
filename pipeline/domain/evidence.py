"""A quote counts when it stands in one turn of the document, exactly or after normaliser v1. No case-folding, no fuzz.

Normaliser v1: NFC; curly quotes, dashes and NBSP become their plain forms; zero-width characters vanish; white space
collapses to one blank. The evidence always points at, and repeats, the source's own characters.
"""

import unicodedata
from collections.abc import Iterator
from typing import Final

from pipeline.domain.actions import Evidence, Quote
from pipeline.domain.documents import Transcript

SHORTEST_QUOTE: Final = 12

_PLAIN: Final = (
    dict.fromkeys("\u2018\u2019\u201a\u201b\u2032", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
)
_ZERO_WIDTH: Final = frozenset("\u200b\u200c\u200d\u2060\ufeff\u00ad")


class Haystack:
    """One document's turns, to look quotes up in; normalises a turn at most once, and only when asked to."""

    def __init__(self, document_id: str, transcript: Transcript) -> None:
        self._document_id = document_id
        self._turns = transcript.turns
        self._normal: dict[int, tuple[str, list[tuple[int, int]]]] = {}

    def locate(self, quote: Quote) -> Evidence | None:
        """Where the quote stands: exactly before normalised, its hinted turn before the earliest. None if not said."""
        exact = quote.quote.strip()
        wanted = normalise(quote.quote).strip()
        if len(wanted) < SHORTEST_QUOTE:
            return None
        order = list(_turn_order(len(self._turns), quote.turn))
        for index in order:
            start = self._turns[index].text.find(exact)
            if start >= 0:
                return self._evidence(index, start, start + len(exact))
        for index in order:
            normal, places = self._normalised(index)
            found = normal.find(wanted)
            if found >= 0:
                return self._evidence(index, places[found][0], places[found + len(wanted) - 1][1])
        return None

    def _normalised(self, index: int) -> tuple[str, list[tuple[int, int]]]:
        if index not in self._normal:
            self._normal[index] = _normalise_with_places(self._turns[index].text)
        return self._normal[index]

    def _evidence(self, turn: int, start: int, end: int) -> Evidence:
        said = self._turns[turn].text[start:end]
        return Evidence(document_id=self._document_id, turn=turn, start=start, end=end, quote=said)


def stands(evidence: Evidence, transcript: Transcript) -> bool:
    """Whether the evidence repeats exactly what stands at its place (what `verify` checks offline)."""
    if evidence.turn >= len(transcript.turns):
        return False
    return transcript.turns[evidence.turn].text[evidence.start : evidence.end] == evidence.quote


def normalise(text: str) -> str:
    """Normaliser v1."""
    return _normalise_with_places(text)[0]


def _turn_order(turns: int, hint: int | None) -> Iterator[int]:
    if hint is not None and 0 <= hint < turns:
        yield hint
    yield from (index for index in range(turns) if index != hint)


def _normalise_with_places(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The normalised text, and for each of its characters the span of source characters that it stands for."""
    out: list[str] = []
    places: list[tuple[int, int]] = []
    for start, end in _clusters(text):
        for character in unicodedata.normalize("NFC", text[start:end]):
            if character in _ZERO_WIDTH:
                continue
            plain = " " if character.isspace() else _PLAIN.get(character, character)
            if plain == " " and out and out[-1] == " ":
                places[-1] = (places[-1][0], end)
                continue
            out.append(plain)
            places.append((start, end))
    return "".join(out), places


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    """Spans that NFC may compose: a character with the combining marks (or Hangul jamo) that follow it."""
    start = 0
    for index in range(1, len(text)):
        if not _joins(text[index]):
            yield start, index
            start = index
    if text:
        yield start, len(text)


def _joins(character: str) -> bool:
    return unicodedata.combining(character) != 0 or "\u1160" <= character <= "\u11ff"
