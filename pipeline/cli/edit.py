"""`callfold edit`: other lanes or another deadline for a job that is not finished."""

from pipeline.cli import arguments, door, screen
from pipeline.stages.edit import edit as edit_stage


def edit(
    job: arguments.JobName,
    concurrency: arguments.Concurrency = None,
    deadline: arguments.Deadline = None,
    as_json: arguments.Json = False,
) -> None:
    """Change an unfinished job's concurrency or deadline (seconds since it was submitted)."""
    view = door.changed(job, lambda ledger, job_id: edit_stage(ledger, job_id, concurrency, deadline))
    if as_json:
        screen.answer(view)
        return
    until = f"deadline {view.expires_at:%Y-%m-%d %H:%M:%S} UTC"
    screen.line(f"edited: concurrency {view.concurrency}, {until}; callfold status {view.job_id}")
