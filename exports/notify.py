"""Notify: who asked for it is told that a job has ended, and where its bundle is: by a command or a line in a file.

At least once: a try that was cut short between the telling and its mark is made again. Whoever listens tells a
repetition by job_id and version.
"""

import os
import signal
from fcntl import LOCK_EX, flock
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired
from typing import Final, Literal
from uuid import UUID

import structlog
from pydantic import AwareDatetime, BaseModel, ConfigDict

from exports.durable import make_folder
from exports.freeze import folder_of
from pipeline.domain.identity import MEASUREMENT
from pipeline.domain.results import Counts, JobState, JobView
from pipeline.ledger import exports, notifications, views
from pipeline.ledger.connection import Ledger
from pipeline.ledger.exports import Export
from pipeline.ledger.notifications import Notification
from pipeline.settings import Settings

log = structlog.get_logger(__name__)

#: How long the command may take, in seconds.
PATIENCE: Final = 60.0


class News(BaseModel):
    """The line that a consumer gets: a job's end, in ids and counts. `version` is the job's; `folder` the bundle's."""

    model_config = ConfigDict(frozen=True)

    schema_version: Literal[1] = 1
    job_id: UUID
    key: str
    state: JobState
    version: int
    at: AwareDatetime
    counts: Counts
    export_id: UUID
    export_version: int
    folder: Path


def notify(ledger: Ledger, settings: Settings, job_id: UUID, tries: int = 0) -> None:
    """Tell of what the frozen job's consumer has not heard, oldest first; what fails ends it and is tried again later.

    One at a time per job. `tries` fences a message: where another try has begun since, nothing happens.
    """
    with ledger.try_lock(f"notify:{job_id}") as got:
        if not got:
            return
        with ledger.statement() as tx:
            export, waiting = exports.find(tx, job_id), notifications.waiting(tx, job_id)
        if export is None or not waiting or waiting[0].tries != tries:
            return
        for notification in waiting:
            if not _try(ledger, settings, notification, export):
                return


def _try(ledger: Ledger, settings: Settings, notification: Notification, export: Export) -> bool:
    """One try, counted before it is made and marked after it; whether it was told."""
    ids = {"job_id": str(notification.job_id), "version": notification.version, "state": notification.state}
    with ledger.statement() as tx:
        notifications.claim(tx, notification, settings.lease_seconds)
        job = views.job(tx, notification.job_id, settings.lease_seconds)
    consumer = None if job.idempotency_key.startswith(MEASUREMENT) else settings.on_complete
    problem = _tell(consumer, _news(settings, notification, export, job))
    if problem is not None:
        log.error("notify.failed", **ids, tries=notification.tries + 1, problem=problem)
        return False
    with ledger.statement() as tx:
        notifications.settle(tx, notification)
    log.info("notify.told" if consumer else "notify.nobody_asked", **ids)
    return True


def _news(settings: Settings, notification: Notification, export: Export, job: JobView) -> News:
    return News(
        job_id=notification.job_id,
        key=job.idempotency_key,
        state=notification.state,
        version=notification.version,
        at=notification.at,
        counts=job.counts,
        export_id=export.export_id,
        export_version=export.export_version,
        folder=folder_of(settings.exports, export).absolute(),
    )


def _tell(consumer: tuple[str, ...] | Path | None, news: News) -> str | None:
    """What went wrong, in words of ours; None where nothing did."""
    line = news.model_dump_json().encode() + b"\n"
    match consumer:
        case None:
            return None
        case Path():
            return _append(consumer, line)
        case _:
            return _run(consumer, line)


def _run(command: tuple[str, ...], line: bytes) -> str | None:
    """Run the command, without a shell, with the line as its input; what it prints may hold anything: it is lost."""
    try:
        running = Popen(command, stdin=PIPE, stdout=DEVNULL, stderr=DEVNULL, process_group=0)  # noqa: S603 - configured
    except OSError as error:
        return f"the command cannot be started: {error.strerror}"
    try:
        running.communicate(line, timeout=PATIENCE)
    except TimeoutExpired:
        return f"the command took longer than {PATIENCE:.0f} s"
    finally:
        if running.returncode is None:
            os.killpg(running.pid, signal.SIGKILL)
            running.wait()
    return f"the command ended with exit code {running.returncode}" if running.returncode else None


def _append(file: Path, line: bytes) -> str | None:
    """Put the line at the file's end and on the disk; a line that a crash cut short gets its end first."""
    try:
        make_folder(file.absolute().parent)
        with file.open("ab+") as opened:
            flock(opened, LOCK_EX)
            opened.write(line if _ends_a_line(opened.fileno()) else b"\n" + line)
            opened.flush()
            os.fsync(opened.fileno())
    except OSError as error:
        return f"the file cannot be written: {error.strerror}"
    return None


def _ends_a_line(file: int) -> bool:
    size = os.fstat(file).st_size
    return size == 0 or os.pread(file, 1, size - 1) == b"\n"
