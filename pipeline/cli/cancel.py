"""`callfold cancel`: no new attempt of a job starts."""

from pipeline.cli import arguments, door, screen
from pipeline.ledger import views
from pipeline.stages.cancel import cancel as cancel_stage


def cancel(job: arguments.JobName, as_json: arguments.Json = False) -> None:
    """Cancel a job: what has not started is skipped, what runs may still end. The workers then freeze its bundle."""
    settings = door.settings()
    with door.ledger(settings) as ledger:
        with ledger.statement() as tx:
            job_id = views.find_job(tx, job)
        # Its commands are not sent: reconcile freezes what is drained, within seconds, wherever workers run.
        cancel_stage(ledger, job_id)
        with ledger.statement() as tx:
            view = views.job(tx, job_id, settings.lease_seconds)
    if as_json:
        screen.answer(view)
        return
    screen.line(f"cancelled: {view.counts.skipped} skipped, {view.counts.running} still running")
