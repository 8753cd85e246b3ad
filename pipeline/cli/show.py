"""`callfold show`: a job's documents, or one document with its attempts, calls, summary and actions."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated, Any, Final
from uuid import UUID

import typer

from pipeline.cli import arguments, door, screen, spent
from pipeline.cli import document as document_text
from pipeline.ledger import attempts, views
from pipeline.ledger.attempts import Attempt, Call
from pipeline.ledger.connection import Ledger
from pipeline.ledger.views import ItemResult
from pipeline.settings import Settings

ROWS_SHOWN: Final = 50
_PAGE: Final = 1_000

DocumentName = Annotated[
    str | None, typer.Argument(metavar="[DOCUMENT]", help="One document by its id.", show_default=False)
]


def show(job: arguments.JobName, document: DocumentName = None, as_json: arguments.Json = False) -> None:
    """List a job's documents, or show all that is known of one of them."""
    settings = door.settings()
    with door.ledger(settings) as ledger:
        with ledger.statement() as tx:
            job_id = views.find_job(tx, job)
        if document is not None:
            _show_document(ledger, settings, job_id, document, as_json=as_json)
        elif as_json:
            screen.answer([_listed(item) for item in _items(ledger, job_id)])
        else:
            _show_job(ledger, job_id)


def _items(ledger: Ledger, job_id: UUID) -> Iterator[ItemResult]:
    first = 0
    while True:
        with ledger.statement() as tx:
            page = views.items(tx, job_id, first, _PAGE)
        yield from page
        if len(page) < _PAGE:
            return
        first = page[-1].position + 1


def _listed(item: ItemResult) -> dict[str, Any]:
    value = asdict(item)
    for field in ("warnings", "actions"):
        value[field] = json.loads(value[field] or "[]")
    return value


def _show_job(ledger: Ledger, job_id: UUID) -> None:
    with ledger.statement() as tx:
        items = views.items(tx, job_id, 0, ROWS_SHOWN + 1)
    rows = (
        (
            item.document_id,
            item.account_id,
            _state(item),
            item.attempt_count,
            item.error_code,
            len(json.loads(item.actions or "[]")),
        )
        for item in items[:ROWS_SHOWN]
    )
    screen.table(("document", "account", "state", "attempts", "code", "actions"), rows)
    if len(items) > ROWS_SHOWN:
        screen.line("… and more: --json lists all")


def _state(item: ItemResult) -> str:
    return f"{item.state}, {item.progress} %" if item.state == "running" and item.progress else item.state


def _show_document(ledger: Ledger, settings: Settings, job_id: UUID, document: str, *, as_json: bool) -> None:
    with ledger.statement() as tx:
        item = views.item(tx, job_id, document)
        history = attempts.history(tx, job_id, item.position)
        causes = spent.causes(tx, settings, views.job(tx, job_id, settings.lease_seconds), item.position)
    if as_json:
        told = [{**asdict(attempt), "usage": attempt.usage.model_dump()} for attempt in history]
        screen.answer({**_listed(item), "attempts": told, "costs": list(map(asdict, causes))})
        return
    screen.line(f"{item.document_id} of account {item.account_id}: {_state(item)}")
    if item.error_code:
        screen.line(f"{item.error_code}: {item.error_detail}" if item.error_detail else item.error_code)
    if item.available_at:
        screen.line(f"to be tried again at {item.available_at:%H:%M:%S} UTC")
    for attempt in history:
        _print_attempt(attempt)
    screen.line()
    spent.show_causes(causes)
    if item.summary is not None:
        document_text.show(item.summary, json.loads(item.actions or "[]"))


def _print_attempt(attempt: Attempt) -> None:
    took = f" after {(attempt.ended_at - attempt.started_at).total_seconds():.1f} s" if attempt.ended_at else ""
    ended = f"{attempt.outcome or 'running'}{took}" + (f", {attempt.error_code}" if attempt.error_code else "")
    free = ", not charged" if attempt.ended_at and not attempt.charged and attempt.outcome != "succeeded" else ""
    where = f"{attempt.worker}{' alone' if attempt.alone else ''}"
    screen.line()
    screen.line(f"attempt {attempt.number} on {where} at {attempt.started_at:%Y-%m-%d %H:%M:%S} UTC: {ended}{free}")
    if attempt.error_detail:
        screen.line(f"    {attempt.error_detail}")
    if attempt.calls:
        headings = ("call", "step", "covers", "code", "tokens in", "cached", "out", "USD", "seconds", "request")
        screen.table(headings, (_call(call, is_over=attempt.ended_at is not None) for call in attempt.calls))
    if len(attempt.calls) > 1:
        spent.show_usage(attempt.usage)


def _call(call: Call, *, is_over: bool) -> tuple[object, ...]:
    ended = "ok" if call.latency_seconds is not None else "never ended" if is_over else "under way"
    return (
        call.sequence,
        f"{call.step} {call.chunk}" if call.chunk else call.step,
        call.covers,
        " ".join(filter(None, (call.error_code, call.condition))) or ended,
        call.input_tokens,
        call.cached_tokens,
        call.output_tokens,
        None if call.cost_usd is None else f"{call.cost_usd:.6f}",
        None if call.latency_seconds is None else f"{call.latency_seconds:.2f}",
        call.request_id,
    )
