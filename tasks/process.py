"""The hop that works on one document."""

from uuid import UUID

import structlog
from celery import Task

from pipeline.errors import LedgerError
from pipeline.ledger.items import Released
from pipeline.stages.process import Processed
from pipeline.stages.process import process as process_stage
from tasks.app import app
from tasks.lanes import hand_on
from tasks.worker import bench

log = structlog.get_logger(__name__)


@app.task(bind=True, name="tasks.process", ignore_result=True)
def process(self: Task, job_id: str, position: int, dispatch_id: str) -> None:
    """One released document, from start to settle."""
    released = Released(UUID(job_id), position, UUID(dispatch_id))
    try:
        done = process_stage(bench(), released)
    except LedgerError as error:
        # The item is as the ledger last knew it; its lease or its release runs out and reconcile drives it on.
        log.error("process.ledger", job_id=job_id, position=position, error=error.code)
        done = Processed(settled=False)
    hand_on(self.request, done)
