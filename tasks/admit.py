"""The hop that opens a job's lanes."""

from uuid import UUID

from pipeline.stages.admit import admit as admit_stage
from tasks.app import app
from tasks.hops import recorded
from tasks.lanes import open_lanes, publish
from tasks.worker import bench


@app.task(name="tasks.admit", ignore_result=True)
def admit(job_id: str) -> None:
    """accepted -> running."""
    with recorded("admit", job_id=job_id):
        admitted = admit_stage(bench().ledger, UUID(job_id))
        open_lanes(UUID(job_id), admitted.released)
        publish(admitted.commands)
