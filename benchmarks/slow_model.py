"""`python -m benchmarks.slow_model`: a model server that takes its time, the same for the same call in every run.

Its answers take a second in the median, with a long tail; a call is told by the number that its first turn names.
"""

import asyncio
import heapq
import random
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from benchmarks.documents import inputs
from benchmarks.model_server import Asked, ModelServer, Play, answer
from pipeline.domain.documents import DocumentInput, Turn

_SIGMA: Final = 0.6
_NUMBER: Final = re.compile(r"This is call number (\d+)")


def numbered(count: int, size: int) -> Iterator[DocumentInput]:
    """Invented calls of about `size` characters, each with its number in the first turn."""
    for number, document in enumerate(inputs(count, size)):
        first = Turn(text=f"This is call number {number} of this night.", speaker="Rep")
        yield document.model_copy(update={"turns": (first, *(document.turns or ()))})


def seconds(number: int, median: float, *, is_structured: bool) -> float:
    """How long the model takes for a call's summary, or for its actions."""
    chance = random.Random(2 * number + is_structured)  # noqa: S311 - a latency, not a secret
    return median * chance.lognormvariate(0.0, _SIGMA)


def ideal(count: int, lanes: int, median: float) -> float:
    """Seconds that so many lanes take at least: each takes the next call when it is free, and nothing lies between."""
    free = [0.0] * lanes
    for number in range(count):
        both = sum(seconds(number, median, is_structured=step) for step in (False, True))
        heapq.heapreplace(free, free[0] + both)
    return max(free)


def main(median: float) -> None:
    """Serve until killed; the first line that it prints is its URL."""

    def play(asked: Asked) -> Play:
        found = _NUMBER.search(asked.words)
        number = int(found[1]) if found else 0
        return answer(asked, seconds(number, median, is_structured=asked.is_structured))

    server = ModelServer(play)
    with suppress(KeyboardInterrupt):
        asyncio.run(server.run(0, lambda: print(server.url, flush=True)))


if __name__ == "__main__":
    import sys

    main(float(sys.argv[1]))
