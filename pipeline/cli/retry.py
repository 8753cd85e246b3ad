"""`callfold retry`: the next version of a finished job, in which only what did not succeed is worked on again."""

from pathlib import Path
from typing import Annotated

import typer

from exports.copy_bundle import check_out
from pipeline.cli import arguments, dispatch, door, screen
from pipeline.cli.finish import finish
from pipeline.errors import InvalidRequest, Problem
from pipeline.ledger import views
from pipeline.ledger.connection import Ledger
from pipeline.stages.amend import amend
from pipeline.stages.commands import Admit
from pipeline.stages.submit import Submitted

Codes = Annotated[
    list[str] | None,
    typer.Option("--code", metavar="CODE", help="Only documents that ended so; may be repeated.", show_default=False),
]
Out = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Run it to its end, as `run` does, and copy its bundle here.", show_default=False),
]


def retry(
    job: arguments.JobName,
    code: Codes = None,
    concurrency: arguments.Concurrency = None,
    deadline: arguments.Deadline = None,
    budget_tokens: arguments.BudgetTokens = None,
    budget_usd: arguments.BudgetUsd = None,
    out: Out = None,
    strict: arguments.Strict = False,
    as_json: arguments.Json = False,
) -> None:
    """Amend a finished job: a new job carries what succeeded over and works on the rest with fresh budgets.

    Its options are those that the job was given, its deadline counts anew; a concurrency that was edited stays.
    Without --out it is left to the workers of a stack that is up.
    """
    if strict and out is None:
        raise InvalidRequest([Problem("--strict", "waits for the end of the job: give --out, too")])
    settings = door.settings()
    changes = arguments.options(
        concurrency=concurrency, deadline=deadline, budget_tokens=budget_tokens, budget_usd=budget_usd
    )

    def request(ledger: Ledger) -> Submitted:
        with ledger.statement() as tx:
            predecessor = views.find_job(tx, job)
        successor = amend(ledger, settings, predecessor, code or (), changes)
        if out is not None and not successor.created:
            screen.note(f"callfold: {_said(successor)}")
        return successor

    if out is not None:
        check_out(out)
        finish(settings, request, out, strict=strict, as_json=as_json)
        return
    urls = door.working_stack(settings)
    successor = request(Ledger(urls.database))
    if successor.created:
        dispatch.send(urls, [Admit(successor.job_id)])
    if as_json:
        screen.answer(successor)
        return
    screen.line(_said(successor))
    screen.line(f"callfold watch {successor.job_id}; callfold export {successor.job_id} --out DIR")


def _said(successor: Submitted) -> str:
    said = "retrying as" if successor.created else "the same retry came before:"
    return f"{said} job {successor.job_id}, key {successor.key}"
