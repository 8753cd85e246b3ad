"""The hop that works on one document."""

from uuid import UUID

from celery import Task

from pipeline.ledger.releases import Released
from pipeline.stages.process import Processed
from pipeline.stages.process import process as process_stage
from tasks.app import app
from tasks.hops import recorded
from tasks.lanes import hand_on
from tasks.worker import bench


@app.task(bind=True, name="tasks.process", ignore_result=True)
def process(self: Task, job_id: str, position: int, dispatch_id: str) -> None:
    """One released document, from start to settle.

    Where that is cut short, the item is as the ledger last knew it; its lease or its release runs out and reconcile
    drives it on.
    """
    done = Processed(settled=False)
    with recorded("process", job_id=job_id, position=position):
        done = process_stage(bench(), Released(UUID(job_id), position, UUID(dispatch_id)))
    with recorded("process", job_id=job_id, position=position):
        hand_on(self.request, done)
