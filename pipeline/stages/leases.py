"""The attempts that a process holds: one thread and one statement renew the leases of all of them."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from uuid import UUID

import structlog

from pipeline.ledger import leases
from pipeline.ledger.connection import Ledger

log = structlog.get_logger(__name__)


class Leases:
    """Renews what is `held` every quarter of a lease, on its own connection, until `stop`."""

    def __init__(self, ledger: Ledger, lease_seconds: float) -> None:
        self._ledger, self._lease = ledger, lease_seconds
        #: By each attempt, when it has to have ended, on this process's monotonic clock.
        self._attempts: dict[UUID, float] = {}
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    @contextmanager
    def held(self, attempt_id: UUID, seconds: float) -> Iterator[None]:
        """Renew the lease of this attempt, which may take so many seconds, while the block runs."""
        with self._lock:
            self._attempts[attempt_id] = monotonic() + seconds
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="leases", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._lock:
                del self._attempts[attempt_id]

    def hung(self) -> int:
        """How many attempts are still held a lease after their end: a call that ends in time can settle until then."""
        with self._lock:
            return sum(monotonic() > ends + self._lease for ends in self._attempts.values())

    def stop(self) -> None:
        """End the thread."""
        self._stopped.set()

    def _run(self) -> None:
        while not self._stopped.wait(self._lease / 4):
            with self._lock:
                attempts = list(self._attempts)
            if attempts:
                self._renew(attempts)

    def _renew(self, attempts: list[UUID]) -> None:
        try:
            with self._ledger.session() as tx:
                leases.renew(tx, attempts, self._lease)
        except Exception as error:  # noqa: BLE001 - nobody starts this thread again, and one renewal is not all
            # Nothing is lost by it: reconcile grants a lease after a gap, and a settle counts until a later start.
            log.warning("leases.not_renewed", attempts=len(attempts), error=type(error).__name__)
