"""What a job or a document has cost, as lines and a table, and what is left of its budget."""

from uuid import UUID

from pipeline.cli import screen
from pipeline.domain.results import JobView, Usage
from pipeline.ledger import costs
from pipeline.ledger.budgets import Budget
from pipeline.ledger.connection import Transaction
from pipeline.ledger.costs import Cost
from pipeline.settings import Settings


def causes(tx: Transaction, settings: Settings, job: JobView, position: int | None = None) -> list[Cost]:
    """By cause, of the job or of one of its documents, by the prices that its profile has now."""
    profile = settings.profiles.get(str(job.options.get("profile")))
    prices = None if profile is None else profile.prices
    return costs.by_cause(tx, UUID(job.job_id), prices, position)


def show_usage(usage: Usage) -> None:
    """One line, where anything was used."""
    if usage.input_tokens is None and not usage.unknown_calls:
        return
    cached = f" ({usage.cached_tokens:,} of them cached)" if usage.cached_tokens else ""
    used = f"{usage.input_tokens or 0:,} tokens in{cached}, {usage.output_tokens or 0:,} out"
    calls = "call" if usage.unknown_calls == 1 else "calls"
    unknown = f"; {usage.unknown_calls} {calls} told nothing" if usage.unknown_calls else ""
    screen.line(f"used: {used}{'' if usage.cost_usd is None else f', {_usd(usage.cost_usd)}'}{unknown}")


def show_causes(shares: list[Cost]) -> None:
    """A table, where anything was used; what calls that told nothing may have taken is beside it."""
    if not any(share.input_tokens or share.output_tokens or share.unknown_tokens for share in shares):
        return
    rows = (
        (
            share.cause.replace("_", " "),
            share.calls or None,
            f"{share.input_tokens:,}",
            f"{share.cached_tokens:,}",
            f"{share.output_tokens:,}",
            None if share.cost_usd is None else _usd(share.cost_usd),
            share.unknown_calls or None,
            f"{share.unknown_tokens:,}" if share.unknown_calls else None,
        )
        for share in shares
    )
    headings = ("cause", "calls", "tokens in", "cached", "tokens out", "money", "unknown", "tokens at most")
    screen.table(headings, rows)


def show_budget(budget: Budget | None) -> None:
    """One line: taken of given, reservations of calls under way included."""
    if budget is None:
        return
    taken = []
    if budget.tokens is not None:
        taken.append(f"{budget.tokens_taken:,} of {budget.tokens:,} tokens")
    if budget.usd is not None:
        taken.append(f"{_usd(budget.usd_taken)} of {_usd(budget.usd)}")
    screen.line(f"budget: {', '.join(taken)} taken")


def _usd(amount: float) -> str:
    return f"${amount:,.4f}"
