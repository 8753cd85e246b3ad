"""Speakers whom a recogniser gives apart from the words: who speaks from which second on."""

from bisect import bisect_right
from collections.abc import Iterable


class Stretches:
    """Who speaks when, from pairs of a start in seconds and a speaker."""

    def __init__(self, pairs: Iterable[tuple[float | None, str | None]]) -> None:
        """A stretch without a start is nowhere, so it is left out."""
        known = sorted(((start, who) for start, who in pairs if start is not None), key=lambda pair: pair[0])
        self._starts = [start for start, _ in known]
        self._speakers = [who for _, who in known]

    def speaker_at(self, second: float | None) -> str | None:
        """Whose stretch was the last to begin."""
        place = 0 if second is None else bisect_right(self._starts, second)
        return self._speakers[place - 1] if place else None
