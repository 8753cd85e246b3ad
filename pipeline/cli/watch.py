"""`callfold watch`: a live bar until the job's bundle is frozen."""

from pipeline.cli import arguments, door, screen, waiting
from pipeline.ledger import views


def watch(job: arguments.JobName) -> None:
    """Watch a job until its bundle is frozen; Ctrl-C ends the watching, not the job."""
    settings = door.settings()
    with door.ledger(settings) as ledger:
        with ledger.statement() as tx:
            job_id = views.find_job(tx, job)
        waiting.until_frozen(ledger, job_id, settings)
        found = waiting.look(ledger, job_id, settings.lease_seconds).job
    counts = found.counts
    screen.line(f"{found.state}: {counts.succeeded} succeeded, {counts.failed} failed, {counts.skipped} skipped")
