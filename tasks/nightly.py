"""The hop that admits a schedule's batch when it is due: beat asks once a minute."""

from datetime import UTC, datetime

import structlog

from pipeline.errors import CallfoldError
from pipeline.stages.nightly import due_date
from pipeline.stages.nightly import nightly as nightly_stage
from tasks.app import app
from tasks.lanes import publish
from tasks.worker import bench

log = structlog.get_logger(__name__)


@app.task(name="tasks.nightly", ignore_result=True)
def nightly(schedule: str) -> None:
    """Submit the schedule's folder under its business date; a second start finds the same job."""
    settings = bench().settings
    try:
        date = due_date(settings.schedule(schedule), datetime.now(UTC))
        if date is not None:
            publish(nightly_stage(bench().ledger, settings, schedule, date).commands)
    except CallfoldError as error:
        # Its text may name files; beat asks again in a minute.
        log.error("nightly.failed", schedule=schedule, error=error.code)
