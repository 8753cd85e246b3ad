"""What a worker process works with, made after it has forked and once."""

import mmap
import os
import signal
import socket
import threading

from celery.signals import worker_process_init

from pipeline.errors import StackError
from pipeline.ledger.connection import Ledger
from pipeline.settings import Settings, load
from pipeline.stages.bench import Bench
from pipeline.stages.keeper import Keeper, Show
from pipeline.stages.leases import Leases
from pipeline.summarizers.registry import Summarizers
from tasks.live import Live

_lock = threading.Lock()
_bench: Bench | None = None
#: A byte that a worker shares with the children it forks: 1 once it ends, 2 once all of them have to.
_end = mmap.mmap(-1, 1)


def bench() -> Bench:
    """The bench of this process; the first caller makes it."""
    global _bench  # noqa: PLW0603 - one per process is the point
    with _lock:
        if _bench is None:
            _bench = _make()
        return _bench


def ledger_for(settings: Settings, pool: int, lock_seconds: float = 30.0) -> Ledger:
    """The ledger that the settings name; `lock_seconds` as there. Raises StackError where they name none."""
    if settings.database_url is None:
        raise StackError("a worker needs DATABASE_URL: start it through `callfold up`, or set the three URLs")
    url = settings.database_url.get_secret_value()
    return Ledger(url, pool=pool, application=name(), lock_seconds=lock_seconds)


def hung() -> int:
    """How many of this process's slots hold an attempt that has not ended when it had to."""
    return _bench.leases.hung() if _bench is not None else 0


def end() -> None:
    """Let this process and its children begin no other call: a long document goes on elsewhere."""
    _end[0] = max(_end[0], 1)


def hurry() -> None:
    """Let this process and its children wait for PostgreSQL no longer: they have to end."""
    _end[0] = 2


def name() -> str:
    """How attempts and the reconciler's row name this process."""
    return f"{socket.gethostname()}:{os.getpid()}"


def _make() -> Bench:
    settings = load()
    ledger = ledger_for(settings, settings.process_slots)
    leases = Leases(ledger, settings.lease_seconds)
    return Bench(
        ledger,
        settings,
        leases,
        Keeper(ledger),
        Summarizers(settings),
        name(),
        show=_live(settings),
        ending=lambda: _end[0] > 0,
        hurried=lambda: _end[0] > 1,
    )


def _live(settings: Settings) -> Show:
    """Live text goes where results go; without such a place nobody could listen."""
    return (lambda *_: None) if settings.result_url is None else Live(settings.result_url.get_secret_value())


@worker_process_init.connect
def _begin_child(**_: object) -> None:
    """A forked child must not share its parent's connections, and ends when its parent lets it.

    A SIGTERM to the whole group, as some supervisors send, would cut a document short in each child.
    """
    global _bench  # noqa: PLW0603 - see above
    _bench = None
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
