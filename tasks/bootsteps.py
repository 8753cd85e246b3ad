"""What runs beside the tasks in every worker's main process: the reconciler, and the sending of events.

`python -m tasks.bootsteps` runs it alone, as `callfold up` does, so that liveness does not depend on any one worker.
"""

import random
import signal
import sys
import threading
from typing import Any

import structlog
from celery import Celery, bootsteps
from kombu.common import ignore_errors

from pipeline import logs
from pipeline.errors import StackError
from pipeline.ledger.connection import Ledger, Transaction
from pipeline.ledger.reconcile import hold_lock, is_silent
from pipeline.settings import load
from pipeline.stages.reconcile import reconcile
from tasks.drain import DrainStep
from tasks.hops import recorded
from tasks.worker import ledger_for, name

log = structlog.get_logger(__name__)

#: Seconds between ticks; shorter with the short leases of a test.
TICK = 1.0
#: Seconds between batches of events.
EVENTS_EVERY = 0.25


class Reconciler(threading.Thread):
    """Ticks about once a second while it holds the reconciler's lock, or while whoever holds it is silent."""

    def __init__(self) -> None:
        super().__init__(name="reconcile", daemon=True)
        self._stopped = threading.Event()

    def stop(self) -> None:
        """End after the current tick."""
        self._stopped.set()

    def run(self) -> None:
        """Tick until stopped; begin anew, on a new connection, after anything that goes wrong."""
        settings = load()
        tick = min(TICK, settings.lease_seconds / 10)
        try:
            # One job whose lock somebody keeps must not hold up the tick for all others: the next tick asks again.
            ledger = ledger_for(settings, pool=2, lock_seconds=tick)
        except StackError as error:
            log.error("reconcile.no_ledger", error=error.code)
            return
        while not self._pause(tick):
            # Nobody starts this thread again: what ends one tick must not end all.
            with recorded("reconcile"), ledger.session() as tx:
                self._tick_until_stopped(ledger, tx, settings.lease_seconds, tick)

    def _tick_until_stopped(self, ledger: Ledger, tx: Transaction, lease: float, tick: float) -> None:
        """Wait on one connection for the lock, and hold it there; it ends with the connection.

        A process that was stopped keeps its connection, and the lock with it: after half a lease of silence others
        tick in its place.
        """
        from tasks.lanes import publish  # noqa: PLC0415 - the app loads us before it is whole

        holds = False
        while not self._stopped.is_set():
            if not holds and hold_lock(tx):
                holds = True
                log.info("reconcile.holds_the_lock", worker=name())
            if holds or is_silent(tx, name(), lease / 2):
                publish(reconcile(ledger, lease, name()))
            if self._pause(tick):
                return

    def _pause(self, tick: float) -> bool:
        return self._stopped.wait(tick * random.uniform(0.75, 1.25))  # noqa: S311 - so that workers do not tick as one


class ReconcileStep(bootsteps.StartStopStep):  # type: ignore[misc]  # Celery has no types
    """Starts the reconciler in the worker's main process once the pool has forked, and stops it before it drains.

    A child that is forked while this thread imports a module inherits the module's lock and waits on it for ever.
    """

    requires = (DrainStep,)

    def __init__(self, _worker: Any, **_: Any) -> None:
        self._reconciler = Reconciler()

    def start(self, _worker: Any) -> None:
        """The worker is up."""
        self._reconciler.start()

    def stop(self, _worker: Any) -> None:
        """The worker is about to drain."""
        self._reconciler.stop()


class EventBatches(bootsteps.StartStopStep):  # type: ignore[misc]  # Celery has no types
    """Sends the task events that Flower shows a few times a second.

    Celery sends them in every turn of the worker's loop, which took a quarter of the interpreter's time.
    """

    requires = ("celery.worker.consumer.events:Events",)

    def __init__(self, consumer: Any, **_: Any) -> None:
        super().__init__(consumer)
        self._timer: Any = None

    def start(self, consumer: Any) -> None:
        """The consumer has a connection, and a dispatcher with it: a new one after each reconnect."""
        self.stop(consumer)
        consumer.event_dispatcher.on_send_buffered = None
        # Never from a pool's thread, as a full buffer does: on RabbitMQ the main thread reads that connection too and
        # takes away the confirm that the flush waits for; it waited for ever, and every slot behind it.
        consumer.event_dispatcher.buffer_limit = sys.maxsize
        self._timer = consumer.timer.call_repeatedly(EVENTS_EVERY, consumer.event_dispatcher.flush)

    def stop(self, _consumer: Any) -> None:
        """The connection is gone or about to go."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def shutdown(self, consumer: Any) -> None:
        """The worker has drained: what ended meanwhile would be shown as running for ever."""
        if consumer.event_dispatcher is not None:
            ignore_errors(consumer, consumer.event_dispatcher.flush)


def install(app: Celery) -> None:
    """Hang the steps on the app's worker."""
    app.steps["worker"].update((DrainStep, ReconcileStep))
    app.steps["consumer"].add(EventBatches)


def main() -> None:
    """The reconciler alone, until SIGTERM or SIGINT."""
    logs.configure(load())
    reconciler = Reconciler()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: reconciler.stop())
    reconciler.start()
    reconciler.join()


if __name__ == "__main__":
    main()
