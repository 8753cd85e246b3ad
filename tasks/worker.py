"""What a worker process works with, made after it has forked and once."""

import os
import socket
import threading

from celery.signals import worker_process_init

from pipeline.errors import StackError
from pipeline.ledger.connection import Ledger
from pipeline.settings import Settings, load
from pipeline.stages.bench import Bench
from pipeline.stages.leases import Leases
from pipeline.summarizers.registry import Summarizers

_lock = threading.Lock()
_bench: Bench | None = None


def bench() -> Bench:
    """The bench of this process; the first caller makes it."""
    global _bench  # noqa: PLW0603 - one per process is the point
    with _lock:
        if _bench is None:
            _bench = _make()
        return _bench


def ledger_for(settings: Settings, pool: int) -> Ledger:
    """The ledger that the settings name. Raises StackError where they name none."""
    if settings.database_url is None:
        raise StackError("a worker needs DATABASE_URL: start it through `callfold up`, or set the three URLs")
    return Ledger(settings.database_url.get_secret_value(), pool=pool, application=name())


def name() -> str:
    """How attempts and the reconciler's row name this process."""
    return f"{socket.gethostname()}:{os.getpid()}"


def _make() -> Bench:
    settings = load()
    ledger = ledger_for(settings, settings.process_slots)
    return Bench(ledger, settings, Leases(ledger, settings.lease_seconds), Summarizers(settings), name())


@worker_process_init.connect
def _forget(**_: object) -> None:
    """A forked child must not share its parent's connections."""
    global _bench  # noqa: PLW0603 - see above
    _bench = None
