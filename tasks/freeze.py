"""The hop that writes a job's export."""

from uuid import UUID

from exports.freeze import freeze as freeze_export
from pipeline.stages.commands import Notify
from tasks.app import app
from tasks.hops import recorded
from tasks.lanes import publish
from tasks.worker import bench


@app.task(name="tasks.freeze", ignore_result=True)
def freeze(job_id: str) -> None:
    """A terminal job's bundle, written once; then who waits for it is told."""
    with recorded("freeze", job_id=job_id):
        freeze_export(bench().ledger, bench().settings.exports, UUID(job_id))
        publish([Notify(UUID(job_id))])
