"""Fail: a person ends the one document that will never end by itself."""

from uuid import UUID

import structlog

from pipeline.errors import StaleArrow
from pipeline.ledger import jobs, sweeps, views
from pipeline.ledger.connection import Ledger
from pipeline.stages.commands import Command, after

log = structlog.get_logger(__name__)


def fail(ledger: Ledger, job_id: UUID, document_id: str) -> tuple[Command, ...]:
    """The open document ends as failed_by_operator, whatever holds it; what its attempt says later is kept as late.

    Raises NotFound, and StaleArrow where the document is final already.
    """
    with ledger.transaction() as tx:
        position = views.item(tx, job_id, document_id).position
        job = jobs.lock(tx, job_id)
        if job.expired or not sweeps.failed_by_operator(tx, job, position):
            raise StaleArrow("fail", "the document is final already, or the job is past its deadline")
    log.warning("fail.failed_by_operator", job_id=str(job_id), position=position)
    return after(job, ended=1)
