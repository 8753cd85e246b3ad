"""`callfold nightly`: a schedule's batch by hand."""

from datetime import UTC, datetime
from typing import Annotated
from zoneinfo import ZoneInfo

import typer

from pipeline.cli import arguments, dispatch, door, screen
from pipeline.ledger.connection import Ledger
from pipeline.stages.nightly import nightly as nightly_stage

Name = Annotated[str, typer.Argument(metavar="NAME", help="The schedule, as in the settings.", show_default=False)]
Date = Annotated[
    datetime | None,
    typer.Option(
        metavar="YYYY-MM-DD",
        formats=["%Y-%m-%d"],
        help="The business date: today in the schedule's time zone unless told.",
        show_default=False,
    ),
]


def nightly(name: Name, date: Date = None, as_json: arguments.Json = False) -> None:
    """Submit a schedule's folder under its business date; a date that was submitted before gives the same job."""
    settings = door.settings()
    day = date or datetime.now(UTC).astimezone(ZoneInfo(settings.schedule(name).time_zone))
    urls = door.working_stack(settings)
    run = nightly_stage(Ledger(urls.database), settings, name, day.date())
    dispatch.send(urls, run.commands)
    if as_json:
        screen.answer({"job_id": run.job_id, "key": run.key, "created": run.created})
        return
    screen.line(f"{'submitted' if run.created else 'submitted before'}: job {run.job_id}, key {run.key}")
