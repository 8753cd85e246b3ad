"""`callfold status`: how far a job is, how fast, what it cost, and why it waits."""

from dataclasses import asdict
from typing import Any

from pipeline.cli import arguments, door, screen, spent, waiting
from pipeline.cli.waiting import Glance
from pipeline.domain.results import JobView
from pipeline.ledger import budgets, exports, receipts, views
from pipeline.ledger.exports import Export
from pipeline.ledger.receipts import Destination, Receipt


def status(job: arguments.JobName, as_json: arguments.Json = False) -> None:
    """Show a job's counts, rate and time to go, what it has cost and for what, and why it waits."""
    settings = door.settings()
    with door.ledger(settings) as ledger:
        with ledger.statement() as tx:
            job_id = views.find_job(tx, job)
            codes, export = views.outcomes(tx, job_id), exports.find(tx, job_id)
            delivered, wanted = receipts.of_job(tx, job_id), receipts.destination(tx, job_id)
            budget = budgets.of_job(tx, job_id)
        glance = waiting.look(ledger, job_id, settings.lease_seconds)
        with ledger.statement() as tx:
            causes = spent.causes(tx, settings, glance.job)
    if as_json:
        pace = {"documents_per_second": glance.pace.per_second, "eta_seconds": glance.pace.eta_seconds}
        shown: dict[str, Any] = {"error_codes": codes, "export": export and asdict(export)}
        shown["receipts"] = list(map(asdict, delivered))
        shown["delivery"] = asdict(wanted) if wanted.uri else None
        shown["costs"], shown["budget"] = list(map(asdict, causes)), budget and asdict(budget)
        screen.answer({**glance.job.model_dump(), **pace, **shown})
        return
    _print(glance, codes)
    spent.show_usage(glance.job.usage)
    spent.show_causes(causes)
    spent.show_budget(budget)
    _print_relatives(glance.job)
    _print_export(glance.job, export, delivered, wanted)


def _print(glance: Glance, codes: dict[str, int]) -> None:
    job, counts = glance.job, glance.job.counts
    screen.line(f"job {job.job_id}, key {job.idempotency_key}")
    limits = f", deadline {job.expires_at:%Y-%m-%d %H:%M:%S} UTC, concurrency {job.concurrency}"
    now = limits if counts.pending + counts.running else ""
    screen.line(f"{job.state}; created {job.created_at:%Y-%m-%d %H:%M:%S} UTC{now}")
    screen.line(
        f"{counts.total} documents: {counts.succeeded} succeeded, {counts.failed} failed, {counts.skipped} skipped, "
        f"{counts.running} running, {counts.pending} pending"
    )
    if codes:
        screen.line("codes: " + ", ".join(f"{number} {code}" for code, number in codes.items()))
    if counts.pending + counts.running:
        screen.line(waiting.forecast(glance.pace) or "nothing has been settled in the last minute")


def _print_relatives(job: JobView) -> None:
    if job.same_content_as:
        screen.line(f"the same content as job {job.same_content_as}")
    if job.predecessor:
        screen.line(f"retries job {job.predecessor}")
    if job.successor:
        screen.line(f"retried by job {job.successor}")
    if job.waiting_for:
        screen.line(f"waiting for {job.waiting_for}")


def _print_export(job: JobView, export: Export | None, delivered: list[Receipt], wanted: Destination) -> None:
    if export:
        screen.line(f"export {export.export_id}, version {export.export_version}: callfold export {job.job_id}")
    for receipt in delivered:
        at = f"{receipt.delivered_at:%Y-%m-%d %H:%M:%S} UTC"
        screen.line(f"delivered at {at} to {receipt.uri}, key {receipt.key}, seal sha256 {receipt.sha256}")
    if wanted.uri and not wanted.arrived:
        screen.line(f"to be delivered to {wanted.uri}")
