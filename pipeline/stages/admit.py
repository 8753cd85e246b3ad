"""Admit: accepted -> running, and the first documents get their lanes."""

from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID, uuid4

from pipeline.ledger import jobs, releases
from pipeline.ledger.connection import Ledger
from pipeline.ledger.releases import Released
from pipeline.stages.commands import Command, Reduce
from pipeline.stages.patience import patience


@dataclass(frozen=True, slots=True)
class Admitted:
    """`released` become the headers of the job's chord; `commands` is what else follows."""

    released: tuple[Released, ...] = ()
    commands: tuple[Command, ...] = ()


#: How long an admission waits for PostgreSQL, in seconds; later reconcile asks for it anew.
PATIENCE: Final = 5.0


def admit(ledger: Ledger, job_id: UUID) -> Admitted:
    """Open the job's lanes; a message that comes again, or for a cancelled job, changes nothing."""
    return patience(PATIENCE)(_admit_once, ledger, job_id, [])


def _admit_once(ledger: Ledger, job_id: UUID, dispatches: list[UUID]) -> Admitted:
    """`dispatches` are those of the try before, whose COMMIT may have been made and its answer lost."""
    with ledger.transaction() as tx:
        job = jobs.lock(tx, job_id)
        if job.state != "accepted":
            before = [releases.released_as(tx, job_id, dispatch_id) for dispatch_id in dispatches]
            return Admitted(tuple(one for one in before if one is not None))
        jobs.admit(tx, job)
        lanes = range(min(job.concurrency, job.pending))
        dispatches[:] = [uuid4() for _ in lanes]
        released = releases.release(tx, replace(job, state="running"), lanes, dispatches)
    if job.pending == 0:
        return Admitted(commands=(Reduce(job_id),))
    return Admitted(tuple(released))
