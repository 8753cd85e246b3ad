"""`callfold fail`: end the one document that will never end by itself."""

from typing import Annotated

import typer

from pipeline.cli import arguments, door, screen
from pipeline.stages.fail import fail as fail_stage


def fail(
    job: arguments.JobName,
    document: Annotated[str, typer.Argument(metavar="DOCUMENT", help="The document's id.")],
    as_json: arguments.Json = False,
) -> None:
    """Fail an open document by hand, so that its job can end without it."""
    view = door.changed(job, lambda ledger, job_id: fail_stage(ledger, job_id, document))
    if as_json:
        screen.answer(view)
        return
    counts = view.counts
    screen.line(f"failed by operator: {counts.failed} failed, {counts.pending + counts.running} still open")
