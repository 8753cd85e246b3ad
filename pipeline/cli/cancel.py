"""`callfold cancel`: no new attempt of a job starts."""

from pipeline.cli import arguments, door, screen
from pipeline.stages.cancel import cancel as cancel_stage


def cancel(job: arguments.JobName, as_json: arguments.Json = False) -> None:
    """Cancel a job: what has not started is skipped, what runs may still end. The workers then freeze its bundle."""
    view = door.changed(job, cancel_stage)
    if as_json:
        screen.answer(view)
        return
    screen.line(f"cancelled: {view.counts.skipped} skipped, {view.counts.running} still running")
