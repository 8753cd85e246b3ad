"""The hop that admits a schedule's batch when it is due: beat asks once a minute."""

from datetime import UTC, datetime

from pipeline.stages.nightly import due_date
from pipeline.stages.nightly import nightly as nightly_stage
from tasks.app import app
from tasks.hops import recorded
from tasks.lanes import publish
from tasks.worker import bench


@app.task(name="tasks.nightly", ignore_result=True)
def nightly(schedule: str) -> None:
    """Submit the schedule's folder under its business date; a second start finds the same job."""
    with recorded("nightly", schedule=schedule):
        settings = bench().settings
        date = due_date(settings.schedule(schedule), datetime.now(UTC))
        if date is not None:
            publish(nightly_stage(bench().ledger, settings, schedule, date).commands)
