"""Paired runs: A B A B …, compared pair by pair, so that a noisy neighbour disturbs both sides alike."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Self


@dataclass(frozen=True, slots=True)
class Spread:
    """Least, median and greatest of some runs."""

    low: float
    middle: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Self:
        """Of at least one value."""
        return cls(min(values), median(values), max(values))


@dataclass(frozen=True, slots=True)
class Aim:
    """Where the ratio of ours to the other should be."""

    ratio: float
    is_floor: bool

    def is_met(self, ratio: float) -> bool:
        """Whether the ratio is on the right side."""
        return ratio >= self.ratio if self.is_floor else ratio <= self.ratio

    def __str__(self) -> str:
        return f"{'≥' if self.is_floor else '≤'} {self.ratio:g}"


def at_least(ratio: float) -> Aim:
    """More is better."""
    return Aim(ratio, is_floor=True)


def at_most(ratio: float) -> Aim:
    """Less is better."""
    return Aim(ratio, is_floor=False)


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the table: Callfold's value, what it is held against, and their ratio pair by pair."""

    what: str
    unit: str
    ours: Spread
    against: str
    other: Spread
    ratio: Spread
    aim: Aim


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is compared; values are in `unit`."""

    what: str
    unit: str
    against: str
    aim: Aim

    def run(self, pairs: int, ours: Callable[[], float], other: Callable[[], float]) -> Finding:
        """Measure both in turn, as often as told."""
        return self.of([(ours(), other()) for _ in range(pairs)])

    def of(self, values: Sequence[tuple[float, float]]) -> Finding:
        """The finding of pairs that were measured."""
        mine, others = zip(*values, strict=True)
        ratios = [one / other for one, other in values]
        return Finding(
            what=self.what,
            unit=self.unit,
            ours=Spread.of(mine),
            against=self.against,
            other=Spread.of(others),
            ratio=Spread.of(ratios),
            aim=self.aim,
        )
