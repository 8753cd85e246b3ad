"""What a stage asks for after its commit: messages that `tasks/` publishes.

Losing one is harmless: reconcile asks again.
"""

from dataclasses import dataclass
from uuid import UUID

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


Command = Admit | Process | Reduce | Freeze
