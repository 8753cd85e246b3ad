"""The bench: what a worker process works with."""

from collections.abc import Callable
from dataclasses import dataclass

from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_exponential

from pipeline.errors import LedgerUnavailable
from pipeline.ledger.connection import Ledger
from pipeline.settings import Settings
from pipeline.stages.leases import Leases
from pipeline.summarizers.port import Summarizer


@dataclass(frozen=True, slots=True)
class Bench:
    """Made once per process, after it has forked."""

    ledger: Ledger
    settings: Settings
    leases: Leases
    summarizer: Callable[[str], Summarizer]
    worker: str

    def patience(self, seconds: float | None = None) -> Retrying:
        """Waits for PostgreSQL, else for as long as an attempt may live: what is in hand may have been paid for."""
        return Retrying(
            retry=retry_if_exception_type(LedgerUnavailable),
            wait=wait_exponential(multiplier=0.1, max=2.0),
            stop=stop_after_delay(seconds or self.settings.attempt_seconds),
            reraise=True,
        )
