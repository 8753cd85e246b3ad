"""The lease renewer: one thread and one statement for all attempts that a process holds."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

import structlog

from pipeline.ledger import leases
from pipeline.ledger.connection import Ledger

log = structlog.get_logger(__name__)


class Leases:
    """Renews what is `held` every quarter of a lease, on its own connection, until `stop`."""

    def __init__(self, ledger: Ledger, lease_seconds: float) -> None:
        self._ledger, self._lease = ledger, lease_seconds
        self._attempts: set[UUID] = set()
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    @contextmanager
    def held(self, attempt_id: UUID) -> Iterator[None]:
        """Renew this attempt's lease while the block runs."""
        with self._lock:
            self._attempts.add(attempt_id)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="leases", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._lock:
                self._attempts.discard(attempt_id)

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
