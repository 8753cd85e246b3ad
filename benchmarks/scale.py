"""How much each measurement does: the full one, and a smoke run that only shows that everything still runs."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Scale:
    """Numbers of documents, slots and pairs."""

    pairs: int
    #: of the worker's threads; a job's concurrency is the same
    slots: int
    throughput: tuple[int, ...]
    cost: tuple[int, int]
    memory: tuple[int, int]
    submit: int
    freeze: int
    waiting: int
    waiting_slots: int
    waiting_seconds: float
    fair_large: int
    fair_short: int
    fair_seconds: float
    snapshot: int
    model: int
    model_slots: int
    model_seconds: float
    #: bytes
    captions: int
    files: int


FULL: Final = Scale(
    pairs=3,
    slots=16,
    throughput=(1_000, 5_000),
    cost=(1_000, 20_000),
    memory=(1_000, 10_000),
    submit=1_000,
    freeze=5_000,
    waiting=500,
    waiting_slots=64,
    waiting_seconds=0.5,
    fair_large=5_000,
    fair_short=600,
    fair_seconds=0.5,
    snapshot=10_000,
    model=500,
    model_slots=64,
    model_seconds=1.0,
    captions=10_000_000,
    files=5_000,
)

QUICK: Final = Scale(
    pairs=1,
    slots=4,
    throughput=(20,),
    cost=(10, 20),
    memory=(10, 20),
    submit=20,
    freeze=20,
    waiting=8,
    waiting_slots=4,
    waiting_seconds=0.05,
    fair_large=60,
    fair_short=12,
    fair_seconds=0.05,
    snapshot=40,
    model=8,
    model_slots=4,
    model_seconds=0.05,
    captions=10_000,
    files=20,
)
