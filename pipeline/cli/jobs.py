"""`callfold jobs`: the newest jobs."""

from typing import Annotated

import typer

from pipeline.cli import arguments, door, screen
from pipeline.domain.results import JobView
from pipeline.ledger import views


def jobs(
    limit: Annotated[int, typer.Option(min=1, max=10_000, metavar="N", help="How many.")] = 20,
    as_json: arguments.Json = False,
) -> None:
    """List the newest jobs."""
    with door.ledger(door.settings()) as ledger, ledger.statement() as tx:
        found = views.jobs(tx, limit)
    if as_json:
        screen.answer(found)
        return
    screen.table(("job", "key", "state", "documents", "open", "failed", "skipped", "created"), map(_row, found))


def _row(job: JobView) -> tuple[object, ...]:
    counts = job.counts
    return (
        job.job_id,
        job.idempotency_key,
        job.state,
        counts.total,
        counts.pending + counts.running,
        counts.failed,
        counts.skipped,
        f"{job.created_at:%Y-%m-%d %H:%M} UTC",
    )
