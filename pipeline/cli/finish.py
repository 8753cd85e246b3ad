"""From a request to its bundle, in the foreground: start what is needed, let workers finish the job, stop it again."""

from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import typer

from exports.copy_bundle import copy_bundle
from exports.freeze import folder_of, freeze
from exports.notify import notify
from exports.seal import Seal
from pipeline.cli import dispatch, failures, programs, results, screen, waiting
from pipeline.errors import LedgerUnavailable
from pipeline.ledger import exports
from pipeline.ledger import reconcile as due
from pipeline.ledger.connection import Ledger
from pipeline.ledger.migrate import migrate
from pipeline.settings import Settings
from pipeline.stack import Stack, urls_of
from pipeline.stages.commands import Admit, Process
from pipeline.stages.submit import Submitted

#: Stores the request, or finds the job that it has been before.
Request = Callable[[Ledger], Submitted]


def finish(settings: Settings, request: Request, out: Path, *, strict: bool, as_json: bool) -> None:
    """Bring the request's job to its end, copy its bundle to `out` and show it. Interrupted, it can be called again.

    Ends the command with 1 where the job was cancelled, with 4 where `strict` is asked and a document has no result.
    """
    try:
        copy_bundle(_bundle(settings, request), out)
    except KeyboardInterrupt:
        screen.note("callfold: interrupted; the same command continues the job")
        raise
    _end(results.show(out, as_json=as_json), strict=strict)


def _end(seal: Seal, *, strict: bool) -> None:
    if seal.job_state == "cancelled":
        raise typer.Exit(failures.CANCELLED)
    if strict and seal.counts.succeeded < seal.counts.total:
        raise typer.Exit(failures.NO_RESULT)


def _bundle(settings: Settings, request: Request) -> Path:
    """The job's frozen bundle. Begins anew when another process took the stack away that this one was attached to."""
    with Stack.start(settings) as stack:
        try:
            return _finish(settings, stack, request)
        except LedgerUnavailable:
            if stack.owned or urls_of(settings) is not None:
                raise
    screen.note("callfold: the process that ran the stack has ended; starting one")
    return _bundle(settings, request)


def _finish(settings: Settings, stack: Stack, request: Request) -> Path:
    migrate(stack.urls.database)
    ledger = Ledger(stack.urls.database)
    job = request(ledger)
    if not _is_frozen(ledger, job.job_id):
        _work(settings, stack, ledger, job)
    folder = folder_of(settings.exports, freeze(ledger, settings.exports, job.job_id))
    notify(ledger, settings, job.job_id)  # the workers may have gone by the time that its message comes
    return folder


def have_workers(settings: Settings, stack: Stack) -> None:
    """See that somebody works. Raises StackError where the broker does not answer.

    A configured broker that has workers needs none of ours: they would take other jobs' documents and leave with them.
    """
    dispatch.require_broker(stack.urls)
    if stack.owned and not (settings.broker_url is not None and dispatch.has_workers()):
        stack.run(programs.workers(settings))


def _is_frozen(ledger: Ledger, job_id: UUID) -> bool:
    with ledger.statement() as tx:
        return exports.find(tx, job_id) is not None


def _work(settings: Settings, stack: Stack, ledger: Ledger, job: Submitted) -> None:
    """Let workers finish the job. An own broker begins empty, so what was in the last one's is published again."""
    have_workers(settings, stack)
    dispatch.send(stack.urls, [Admit(job.job_id)])
    if stack.owned and not job.created:
        with ledger.statement() as tx:
            lost = due.unstarted(tx, 0.0)
        dispatch.send(stack.urls, [Process(released) for released in lost])
    waiting.until_frozen(ledger, job.job_id, settings)
