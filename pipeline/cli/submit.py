"""`callfold submit`: hand a job in and return at once."""

from pipeline.cli import arguments, dispatch, door, screen
from pipeline.ledger.connection import Ledger
from pipeline.stages.commands import Admit
from pipeline.stages.submit import submit as submit_stage
from pipeline.transcripts.batch import read_paths


@arguments.with_options
def submit(
    paths: arguments.Paths,
    options: dict[str, str | int | float],
    account: arguments.Account = None,
    key: arguments.Key = None,
    as_json: arguments.Json = False,
) -> None:
    """Store a job and leave it to the workers of a stack that is up."""
    settings = door.settings()
    urls = door.working_stack(settings)
    job = submit_stage(Ledger(urls.database), settings, read_paths(paths, account), options, key)
    if job.created:
        dispatch.send(urls, [Admit(job.job_id)])
    if as_json:
        screen.answer(job)
        return
    screen.line(f"{'submitted' if job.created else 'the same request came before'}: job {job.job_id}, key {job.key}")
    screen.line(f"callfold status {job.job_id}")
