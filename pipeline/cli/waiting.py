"""Waiting for a job: a live bar on a terminal, a line for a reason that lasts elsewhere; hopeless waits end."""

import time
from typing import Final, NamedTuple, Self
from uuid import UUID

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from pipeline.cli import screen
from pipeline.domain.results import JobView
from pipeline.errors import LedgerUnavailable, StackError
from pipeline.ledger import exports, views
from pipeline.ledger.connection import Ledger
from pipeline.ledger.views import Pace
from pipeline.settings import Settings
from pipeline.stack import status, urls_of

_POLL_SECONDS: Final = 0.25
#: A supervised PostgreSQL that crashed recovers meanwhile.
_LEDGER_SECONDS: Final = 30.0
_SILENT_SECONDS: Final = 60.0
_RESTARTS: Final = 4
_WORTH_A_WORD_SECONDS: Final = 10.0


class Glance(NamedTuple):
    """One look at a job; `tick_age` is how long ago any worker reconciled, in seconds."""

    job: JobView
    pace: Pace
    frozen: bool
    tick_age: float | None


def until_frozen(ledger: Ledger, job_id: UUID, settings: Settings) -> None:
    """Show the job's progress until its bundle is frozen.

    Raises LedgerUnavailable after 30 s without an answer, StackError when the workers die again and again or none has
    shown itself for a minute.
    """
    watchdog, answered = Watchdog(settings), time.monotonic()
    with _Bar() as bar:
        while True:
            began = time.monotonic()
            try:
                glance = look(ledger, job_id, settings.lease_seconds)
                answered = time.monotonic()
            except LedgerUnavailable:
                if time.monotonic() - answered > _LEDGER_SECONDS or not watchdog.sees_a_ledger():
                    raise
            else:
                bar.show(glance)
                if glance.frozen:
                    return
                watchdog.check(glance)
            # A look at a large job costs the ledger some work: never more than a twentieth of the time.
            time.sleep(max(_POLL_SECONDS, 20 * (time.monotonic() - began)))


def look(ledger: Ledger, job_id: UUID, lease: float) -> Glance:
    """The job as it stands. Raises NotFound, LedgerUnavailable."""
    with ledger.statement() as tx:
        job, pace = views.job(tx, job_id, lease), views.pace(tx, job_id)
        return Glance(job, pace, exports.find(tx, job_id) is not None, views.health(tx).tick_age_seconds)


def forecast(pace: Pace) -> str:
    """Rate and time to go, where anything moves."""
    if pace.eta_seconds is None:
        return ""
    minutes, seconds = divmod(round(pace.eta_seconds), 60)
    return f"{pace.per_second:.1f}/s" + (f", {minutes}:{seconds:02} to go" if pace.open_items else "")


class Watchdog:
    """Ends a wait that nothing else will end; a job that moves is left alone."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._version = 0
        self._moved = time.monotonic()
        self._restarts: dict[str, int] = {}

    def sees_a_ledger(self) -> bool:
        """Whether there is any to wait for: the process that ran the embedded one may have ended."""
        return self._settings.database_url is not None or urls_of(self._settings) is not None

    def check(self, glance: Glance) -> None:
        """Raises StackError when the workers die again and again, or none has shown itself for a minute."""
        restarts = {part.name: part.restarts for part in status(self._settings)}
        if glance.job.version != self._version:
            self._version, self._moved, self._restarts = glance.job.version, time.monotonic(), restarts
        for name, count in restarts.items():
            if count - self._restarts.get(name, 0) >= _RESTARTS:
                raise StackError(f"{name} ends again and again: read {self._settings.data_dir}/logs/{name}.log")
        silent = glance.tick_age is None or glance.tick_age > _SILENT_SECONDS
        if silent and time.monotonic() - self._moved > _SILENT_SECONDS:
            raise StackError("no worker has shown itself for a minute: `callfold doctor` says what is wrong")


class _Bar:
    def __init__(self) -> None:
        console = Console(stderr=True)
        columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}", markup=False))
        self._live = console.is_terminal
        self._progress = Progress(*columns, console=console, transient=True, disable=not self._live)
        self._task = self._progress.add_task("", total=None)
        self._reason: str | None = None
        self._since = time.monotonic()
        self._said: str | None = None

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def show(self, glance: Glance) -> None:
        counts = glance.job.counts
        waits = self._lasting(glance.job.waiting_for)
        self._progress.update(
            self._task,
            total=counts.total,
            completed=counts.total - counts.pending - counts.running,
            description=waits or forecast(glance.pace),
        )
        if not self._live and waits and waits != self._said:
            screen.note(f"callfold: {waits}")
            self._said = waits

    def _lasting(self, reason: str | None) -> str:
        """A reason is shown once it has lasted: workers need some seconds to start, a reducer some to reduce."""
        if reason != self._reason:
            self._reason, self._since = reason, time.monotonic()
        lasts = reason is not None and time.monotonic() - self._since > _WORTH_A_WORD_SECONDS
        return f"waiting for {reason}" if lasts else ""
