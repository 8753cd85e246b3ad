"""`callfold run`: transcripts in, one frozen bundle out; it starts what it needs and stops what it started."""

from pathlib import Path

from exports.copy_bundle import check_out
from pipeline.cli import arguments, door
from pipeline.cli.finish import finish
from pipeline.domain import options as job_options
from pipeline.errors import InvalidRequest
from pipeline.ledger.connection import Ledger
from pipeline.stages.submit import Submitted, submit
from pipeline.transcripts.batch import read_paths
from pipeline.transcripts.batch.remote import path_of


@arguments.with_options
def run(
    paths: arguments.Paths,
    options: dict[str, str | int | float],
    out: arguments.Out = Path("out"),
    account: arguments.Account = None,
    key: arguments.Key = None,
    strict: arguments.Strict = False,
    as_json: arguments.Json = False,
) -> None:
    """Run a job to its end and copy its bundle to --out. Interrupted and run again, it continues the same job."""
    settings = door.settings()
    asked = job_options.parse(options)
    job_options.check_budget(asked, settings.profile(asked.profile))
    _check_apart(out, paths)
    check_out(out)

    def request(ledger: Ledger) -> Submitted:
        return submit(ledger, settings, read_paths(paths, account), options, key)

    finish(settings, request, out, strict=strict, as_json=as_json)


def _check_apart(out: Path, paths: list[str]) -> None:
    """A bundle among the transcripts would be read as documents by the next run."""
    for path in paths:
        source = path_of(path)
        if source and out.resolve().is_relative_to(source.resolve()):
            raise InvalidRequest(f"{out} lies inside {path}, so the next run would read it: name another --out")
