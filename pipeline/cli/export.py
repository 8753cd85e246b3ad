"""`callfold export`: a verified copy of a job's frozen bundle."""

from pathlib import Path

from exports.copy_bundle import check_out, copy_bundle
from exports.freeze import folder_of, freeze
from pipeline.cli import arguments, door, results
from pipeline.ledger import views


def export(job: arguments.JobName, out: arguments.Out = Path("out"), as_json: arguments.Json = False) -> None:
    """Copy a job's bundle to --out; it is frozen now if that has not happened yet. Refused until the job has ended."""
    settings = door.settings()
    check_out(out)
    with door.ledger(settings) as ledger:
        with ledger.statement() as tx:
            job_id = views.find_job(tx, job)
        frozen = freeze(ledger, settings.exports, job_id)
    copy_bundle(folder_of(settings.exports, frozen), out)
    results.show(out, as_json=as_json)
