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


def run(
    paths: arguments.Paths,
    out: arguments.Out = Path("out"),
    concurrency: arguments.Concurrency = None,
    require: arguments.Require = None,
    account: arguments.Account = None,
    key: arguments.Key = None,
    profile: arguments.ProfileName = None,
    deadline: arguments.Deadline = None,
    language: arguments.Language = None,
    budget_tokens: arguments.BudgetTokens = None,
    budget_usd: arguments.BudgetUsd = None,
    strict: arguments.Strict = False,
    as_json: arguments.Json = False,
) -> None:
    """Run a job to its end and copy its bundle to --out. Interrupted and run again, it continues the same job."""
    settings = door.settings()
    options = arguments.options(
        concurrency=concurrency,
        require=require,
        profile=profile,
        deadline=deadline,
        language=language,
        budget_tokens=budget_tokens,
        budget_usd=budget_usd,
    )
    asked = job_options.parse(options)
    job_options.check_budget(asked, settings.profile(asked.profile))
    _check_apart(out, paths)
    check_out(out)

    def request(ledger: Ledger) -> Submitted:
        return submit(ledger, settings, read_paths(paths, account), options, key)

    finish(settings, request, out, strict=strict, as_json=as_json)


def _check_apart(out: Path, paths: list[Path]) -> None:
    """A bundle among the transcripts would be read as documents by the next run."""
    for path in paths:
        if out.resolve().is_relative_to(path.resolve()):
            raise InvalidRequest(f"{out} lies inside {path}, so the next run would read it: name another --out")
