"""Admit: accepted -> running, and the first documents get their lanes."""

from dataclasses import dataclass, replace
from uuid import UUID, uuid4

from pipeline.ledger import jobs, releases
from pipeline.ledger.connection import Ledger
from pipeline.ledger.releases import Released
from pipeline.stages.commands import Command, Reduce


@dataclass(frozen=True, slots=True)
class Admitted:
    """`released` become the headers of the job's chord; `commands` is what else follows."""

    released: tuple[Released, ...] = ()
    commands: tuple[Command, ...] = ()


def admit(ledger: Ledger, job_id: UUID) -> Admitted:
    """Open the job's lanes; a message that comes again, or for a cancelled job, changes nothing."""
    with ledger.transaction() as tx:
        job = jobs.lock(tx, job_id)
        if job.state != "accepted":
            return Admitted()
        jobs.admit(tx, job)
        lanes = range(min(job.concurrency, job.pending))
        released = releases.release(tx, replace(job, state="running"), lanes, [uuid4() for _ in lanes])
    if job.pending == 0:
        return Admitted(commands=(Reduce(job_id),))
    return Admitted(tuple(released))
