"""The hop that tells who asked for it that a job has ended."""

from uuid import UUID

from exports.notify import notify as notify_consumer
from tasks.app import app
from tasks.hops import recorded
from tasks.worker import bench


@app.task(name="tasks.notify", ignore_result=True)
def notify(job_id: str, tries: int) -> None:
    """One try, the one after `tries`; a message of an older one does nothing."""
    with recorded("notify", job_id=job_id):
        notify_consumer(bench().ledger, bench().settings, UUID(job_id), tries)
