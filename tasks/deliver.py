"""The hop that brings a job's export to where its submitter wanted it."""

from uuid import UUID

from exports.deliver import deliver_as_asked
from tasks.app import app
from tasks.hops import recorded
from tasks.worker import bench


@app.task(name="tasks.deliver", ignore_result=True)
def deliver(job_id: str) -> None:
    """A frozen job's export, once; where that fails, reconcile asks again."""
    with recorded("deliver", job_id=job_id):
        deliver_as_asked(bench().ledger, bench().settings.exports, UUID(job_id))
