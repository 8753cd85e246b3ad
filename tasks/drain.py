"""How a worker ends: what runs is finished, what has not begun goes back to the queue, what hangs is left behind.

SIGTERM begins it, or too many hung threads: nobody can end a thread, so its process has to end. Celery's own warm
shutdown would wait for every thread, also for one that never comes back. Of prefork's children the time limit of
`tasks.process` ends those that hang.
"""

import os
import threading
import time
from typing import Any, Final

import structlog
from celery import bootsteps, signals
from celery.concurrency.thread import TaskPool
from celery.worker import state

from pipeline.settings import load
from tasks.worker import end, hung, hurry

log = structlog.get_logger(__name__)

#: The exit code of a worker that ended because its slots hung (EX_TEMPFAIL): whoever runs it starts another.
HUNG_SLOTS: Final = 75
#: A worker may lose one slot in so many; with more it is not worth keeping.
ONE_IN: Final = 4
_LOOK_SECONDS = 1.0
_WAIT_SECONDS = 0.05


class DrainStep(bootsteps.StartStopStep):  # type: ignore[misc]  # Celery has no types
    """Looks for hung threads while the worker runs, and waits for the others when it ends."""

    requires = ("celery.worker.components:Pool",)

    def __init__(self, worker: Any, **_: Any) -> None:
        super().__init__(worker)
        settings = load()
        self._hurry_after = settings.lease_seconds / 3
        #: No thread has more to do: an attempt, its settle, and its message to the next. What still runs then hangs.
        self._longest = settings.attempt_seconds + 2 * settings.lease_seconds
        self._timer: Any = None

    def start(self, worker: Any) -> None:
        """The worker is up."""
        if isinstance(worker.pool, TaskPool):
            self._timer = worker.timer.call_repeatedly(_LOOK_SECONDS, self._look, (worker,))

    def stop(self, worker: Any) -> None:
        """The worker consumes no more; its pool stops next."""
        end()
        impatient = threading.Timer(self._hurry_after, hurry)
        impatient.daemon = True
        impatient.start()
        if self._timer is not None:
            self._timer.cancel()
            self._drain(worker)

    def _look(self, worker: Any) -> None:
        if (count := hung()) * ONE_IN > worker.concurrency:
            log.error("worker.drains", hung=count, slots=worker.concurrency, exit_code=HUNG_SLOTS)
            state.should_stop = HUNG_SLOTS

    def _drain(self, worker: Any) -> None:
        """Wait for every thread that is not hung, up to the end of its attempt."""
        executor, ends = worker.pool.executor, time.monotonic() + self._longest
        executor.shutdown(wait=False, cancel_futures=True)
        while (busy := sum(thread.is_alive() for thread in executor._threads)) > hung():  # noqa: SLF001 - as Celery does
            if time.monotonic() > ends:
                break
            worker.hub.fire_timers()  # the broker's heartbeats
            time.sleep(_WAIT_SECONDS)
        if busy:
            log.warning("worker.leaves", hung=busy, slots=worker.concurrency)
            worker.pool.on_stop = _do_not_wait
            signals.worker_shutdown.connect(_exit)


def _do_not_wait() -> None:
    """Instead of the pool's own stop, which joins every thread."""


def _exit(sender: Any, **_: Any) -> None:
    """The messages are back in the queue, the connections closed; Python would wait for the hung threads here."""
    os._exit(sender.exitcode or os.EX_OK)
