"""The hop that merges a job: the chord's callback, its errback, and what reconcile asks for."""

from uuid import UUID

from pipeline.stages.reduce import reduce as reduce_stage
from tasks.app import app
from tasks.hops import recorded
from tasks.lanes import publish
from tasks.worker import bench


@app.task(name="tasks.reduce", ignore_result=True)
def reduce(job_id: str) -> None:
    """running -> completed, once every document is final."""
    with recorded("reduce", job_id=job_id):
        publish(reduce_stage(bench().ledger, UUID(job_id)))
