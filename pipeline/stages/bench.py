"""The bench: what a worker process works with."""

from collections.abc import Callable
from dataclasses import dataclass

from tenacity import Retrying

from pipeline.ledger.connection import Ledger
from pipeline.settings import Settings
from pipeline.stages.keeper import Keeper, Show
from pipeline.stages.leases import Leases
from pipeline.stages.patience import patience
from pipeline.summarizers.port import Summarizer


@dataclass(frozen=True, slots=True)
class Bench:
    """Made once per process, after it has forked."""

    ledger: Ledger
    settings: Settings
    leases: Leases
    keeper: Keeper
    #: by the profile's name
    summarizer: Callable[[str], Summarizer]
    worker: str
    show: Show = lambda *_: None
    #: Whether this process ends: what it does may be finished, nothing is begun.
    ending: Callable[[], bool] = lambda: False
    #: Whether this process has to end now.
    hurried: Callable[[], bool] = lambda: False

    def patience(self, seconds: float | None = None) -> Retrying:
        """Waits for PostgreSQL, else for as long as an attempt may live: what is in hand may have been paid for.

        A process that has to end waits no longer: its attempt is lost, and done again elsewhere.
        """
        return patience(seconds or self.settings.attempt_seconds, self.hurried)
