"""`callfold run`: transcripts in, one frozen bundle out; it starts what it needs and stops what it started."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer

from exports.copy_bundle import check_out, copy_bundle
from exports.freeze import folder_of, freeze
from exports.notify import notify
from pipeline.cli import arguments, dispatch, door, failures, programs, results, screen, waiting
from pipeline.domain import options as job_options
from pipeline.errors import InvalidRequest, LedgerUnavailable
from pipeline.ledger import exports
from pipeline.ledger import reconcile as due
from pipeline.ledger.connection import Ledger
from pipeline.ledger.migrate import migrate
from pipeline.settings import Settings
from pipeline.stack import Stack, urls_of
from pipeline.stages.commands import Admit, Process
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
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 4 when a document has no result.")] = False,
    as_json: arguments.Json = False,
) -> None:
    """Run a job to its end and copy its bundle to --out. Interrupted and run again, it continues the same job."""
    settings = door.settings()
    request = _Request(paths, account, arguments.options(concurrency, require, profile, deadline), key)
    settings.profile(job_options.parse(request.options).profile)
    _check_apart(out, paths)
    check_out(out)
    try:
        copy_bundle(_bundle(settings, request), out)
    except KeyboardInterrupt:
        screen.note("callfold: interrupted; the same command continues the job")
        raise
    seal = results.show(out, as_json=as_json)
    if seal.job_state == "cancelled":
        raise typer.Exit(1)
    if strict and seal.counts.succeeded < seal.counts.total:
        raise typer.Exit(failures.STRICT)


def _check_apart(out: Path, paths: list[Path]) -> None:
    """A bundle among the transcripts would be read as documents by the next run."""
    for path in paths:
        if out.resolve().is_relative_to(path.resolve()):
            raise InvalidRequest(f"{out} lies inside {path}, so the next run would read it: name another --out")


@dataclass(frozen=True, slots=True)
class _Request:
    paths: list[Path]
    account: str | None
    options: dict[str, Any]
    key: str | None


def _bundle(settings: Settings, request: _Request) -> Path:
    """The job's frozen bundle. Begins anew when another process took the stack away that this one was attached to."""
    with Stack.start(settings) as stack:
        try:
            return _finish(settings, stack, request)
        except LedgerUnavailable:
            if stack.owned or urls_of(settings) is not None:
                raise
    screen.note("callfold: the process that ran the stack has ended; starting one")
    return _bundle(settings, request)


def _finish(settings: Settings, stack: Stack, request: _Request) -> Path:
    migrate(stack.urls.database)
    ledger = Ledger(stack.urls.database)
    documents = read_paths(request.paths, request.account)
    job = submit(ledger, settings, documents, request.options, request.key)
    if not _is_frozen(ledger, job.job_id):
        _work(settings, stack, ledger, job)
    folder = folder_of(settings.exports, freeze(ledger, settings.exports, job.job_id))
    notify(ledger, settings, job.job_id)  # the workers may have gone by the time that its message comes
    return folder


def _is_frozen(ledger: Ledger, job_id: UUID) -> bool:
    with ledger.statement() as tx:
        return exports.find(tx, job_id) is not None


def _work(settings: Settings, stack: Stack, ledger: Ledger, job: Submitted) -> None:
    """Let workers finish the job. An own broker begins empty, so what was in the last one's is published again.

    A configured broker that has workers needs none of ours: they would take other jobs' documents and leave with them.
    """
    dispatch.require_broker(stack.urls)
    if stack.owned and not (settings.broker_url is not None and dispatch.has_workers()):
        stack.run(programs.workers(settings))
    dispatch.send(stack.urls, [Admit(job.job_id)])
    if stack.owned and not job.created:
        with ledger.statement() as tx:
            lost = due.unstarted(tx, 0.0)
        dispatch.send(stack.urls, [Process(released) for released in lost])
    waiting.until_frozen(ledger, job.job_id, settings)
