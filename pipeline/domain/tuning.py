"""How many documents at once a profile bears: what each step of concurrency showed, and the limit that follows.

The limit is never the last step before things went wrong: of the steps that were sound, the smallest one that came
near the best throughput, and a quarter below it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count, takewhile
from typing import Final

#: Codes that say that the provider, the worker or the purse gives no more.
REFUSALS: Final = frozenset(
    {
        "rate_limited",
        "quota_exhausted",
        "provider_auth",
        "provider_unavailable",
        "provider_timeout",
        "worker_lost",
        "budget_exhausted",
    }
)
#: Of the best throughput: what comes so near is as good, and easier on the provider.
NEAR_THE_BEST: Final = 0.9
#: A step that brings less than this over the best before is the last.
GROWTH: Final = 1.1
HEADROOM: Final = 0.75
#: So many documents a lane, so that a step is more than its beginning and its end.
ROUNDS: Final = 3
FEWEST: Final = 4
#: So much later, in seconds, the oldest document waits at the end of a step than at its beginning: work piles up.
_PILES_UP: Final = 2.0


@dataclass(frozen=True, slots=True)
class Measured:
    """One step. `documents` had a result, in `seconds` from the first start to the last end.

    `oldest_age` is the longest that a document waited, in seconds, though it had its lane or its retry was due;
    latencies are a call's, in seconds; `memory` is the worker's, in bytes. None: unknown.
    """

    concurrency: int
    documents: int
    seconds: float
    oldest_age: float
    is_rising: bool
    #: of calls, and of attempts that made none
    codes: Mapping[str, int]
    median_latency: float | None = None
    p95_latency: float | None = None
    memory: int | None = None

    @property
    def per_minute(self) -> float:
        """Throughput in documents."""
        return 60.0 * self.documents / self.seconds if self.seconds else 0.0

    @property
    def trouble(self) -> str | None:
        """Why it was too much; None for a sound step."""
        refusals = ", ".join(f"{number} {code}" for code, number in self.codes.items() if code in REFUSALS)
        if refusals:
            return refusals
        if self.is_rising:
            return "documents waited longer and longer"
        return None if self.documents else "no document got a result"


@dataclass(frozen=True, slots=True)
class Advice:
    """The concurrency to run with, None where none is sound, and the sentence that says why."""

    limit: int | None
    why: str


def steps(bound: int, documents: int | None = None) -> dict[int, int]:
    """The steps by their concurrency, 1, 2, 4, 8 … up to `bound`, and how many documents each works on.

    Each lane takes three in turn where there are so many, and two at least: with fewer it would not be kept busy.
    """
    powers = takewhile(lambda concurrency: concurrency <= bound, (2**power for power in count()))
    wanted = {concurrency: max(FEWEST, ROUNDS * concurrency) for concurrency in powers}
    if documents is None:
        return wanted
    return {
        concurrency: min(number, documents)
        for concurrency, number in wanted.items()
        if concurrency == 1 or 2 * concurrency <= documents
    }


def rises(ages: Sequence[float]) -> bool:
    """Whether the oldest document's age, looked at evenly over a step, is another at its end than at its beginning."""
    third = len(ages) // 3
    return third > 0 and (sum(ages[-third:]) - sum(ages[:third])) / third > _PILES_UP


def is_worth_another(steps: Sequence[Measured]) -> bool:
    """Whether twice as many at once may bring more: the last step was sound and better than all before it."""
    *before, last = steps
    return last.trouble is None and last.per_minute >= GROWTH * max((step.per_minute for step in before), default=0.0)


def recommended(steps: Sequence[Measured]) -> Advice:
    """The limit that follows from the steps, in rising order of concurrency."""
    sound = list(takewhile(lambda step: step.trouble is None, steps))
    if not sound:
        return Advice(None, f"already at concurrency {steps[0].concurrency}: {steps[0].trouble}")
    best = max(step.per_minute for step in sound)
    chosen = next(step for step in sound if step.per_minute >= NEAR_THE_BEST * best)
    limit = max(1, int(chosen.concurrency * HEADROOM))
    near = f"{chosen.per_minute:.0f} documents a minute at {chosen.concurrency}, and headroom below it"
    return Advice(limit, f"{near}; {_beyond(steps, sound, chosen)}")


def _beyond(steps: Sequence[Measured], sound: Sequence[Measured], chosen: Measured) -> str:
    if len(sound) < len(steps):
        refused = steps[len(sound)]
        return f"at {refused.concurrency}: {refused.trouble}"
    if chosen is sound[-1]:
        return "it still grew there: more documents and a higher --up-to may show more"
    return f"{sound[-1].per_minute:.0f} a minute at {sound[-1].concurrency}"
