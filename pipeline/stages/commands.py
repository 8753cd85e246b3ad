"""What a stage asks for after its commit: messages that `tasks/` publishes.

Losing one is harmless: reconcile asks again.
"""

from dataclasses import dataclass
from uuid import UUID

from pipeline.ledger.jobs import LockedJob
from pipeline.ledger.releases import Released


@dataclass(frozen=True, slots=True)
class Admit:
    """Open the job's lanes."""

    job_id: UUID


@dataclass(frozen=True, slots=True)
class Process:
    """Work on the document that was released."""

    released: Released


@dataclass(frozen=True, slots=True)
class Reduce:
    """Merge: every document of the job is final."""

    job_id: UUID


@dataclass(frozen=True, slots=True)
class Freeze:
    """Write the job's export."""

    job_id: UUID


@dataclass(frozen=True, slots=True)
class Notify:
    """Tell who asked for it that the job has ended; `tries` is how often that was begun before."""

    job_id: UUID
    tries: int = 0


@dataclass(frozen=True, slots=True)
class Deliver:
    """Bring the job's export to where its submitter wanted it."""

    job_id: UUID


Command = Admit | Process | Reduce | Freeze | Notify | Deliver


def after(job: LockedJob, ended: int) -> tuple[Command, ...]:
    """What follows when `ended` of the documents that `job` had open under its lock have become final."""
    if job.pending + job.running > ended or job.state == "accepted":
        return ()
    return (Reduce(job.job_id),) if job.state == "running" else (Freeze(job.job_id),)
