"""Cancel: no new attempt starts; what has not started is skipped, what runs may still end."""

from uuid import UUID

import structlog

from pipeline.ledger import jobs, sweeps
from pipeline.ledger.connection import Ledger
from pipeline.stages.commands import Command, after

log = structlog.get_logger(__name__)


def cancel(ledger: Ledger, job_id: UUID) -> tuple[Command, ...]:
    """Cancel the job; cancelling it again goes on with the sweep. Raises NotFound, StaleArrow once completed."""
    with ledger.transaction() as tx:
        job = jobs.lock(tx, job_id)
        if job.state != "cancelled":
            jobs.cancel(tx, job)
            log.info("cancel.cancelled", job_id=str(job_id), open=job.pending + job.running)
    return drain(ledger, job_id)


def drain(ledger: Ledger, job_id: UUID) -> tuple[Command, ...]:
    """Skip all of a cancelled job's pending and released documents, by the thousand; freeze it if nothing runs."""
    while True:
        swept, commands = drain_some(ledger, job_id)
        if not swept:
            return commands


def drain_some(ledger: Ledger, job_id: UUID) -> tuple[int, tuple[Command, ...]]:
    """One transaction of the sweep: how many it ended, and what follows. Past the deadline, that comes first."""
    with ledger.transaction() as tx:
        job = jobs.lock(tx, job_id)
        if job.state != "cancelled":
            return 0, ()
        swept = sweeps.expired(tx, job) if job.expired else sweeps.cancelled(tx, job)
    return swept, after(job, swept)
