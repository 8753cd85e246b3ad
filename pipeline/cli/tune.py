"""`callfold tune`: how many documents at once a profile bears, measured with the caller's own documents."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import cycle, islice
from typing import Annotated, Final

import typer

from pipeline.cli import arguments, door, finish, screen
from pipeline.cli.measuring import Plant, measure
from pipeline.domain import options as job_options
from pipeline.domain import tuning
from pipeline.domain.documents import IncomingDocument
from pipeline.domain.identity import MEASUREMENT
from pipeline.domain.tuning import Advice, Measured
from pipeline.errors import InvalidRequest, Problem
from pipeline.ledger import gates
from pipeline.ledger.budgets import Budget
from pipeline.ledger.connection import Ledger
from pipeline.ledger.migrate import migrate
from pipeline.settings import Settings
from pipeline.stack import Stack
from pipeline.stages.estimate import estimate
from pipeline.transcripts.batch import read_paths

_DEADLINE_SECONDS: Final = 3_600
_MEBIBYTE: Final = 2**20

ProfileName = Annotated[str, typer.Argument(metavar="PROFILE", help="The profile to measure.", show_default=False)]
UpTo = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="The highest concurrency: a worker's slots unless told.", show_default=False),
]
Most = Annotated[
    int | None,
    typer.Option("--documents", metavar="N", min=1, help="Use so many at most.", show_default=False),
]
Yes = Annotated[bool, typer.Option("--yes", help="Agree to what it may spend.")]


@dataclass(frozen=True, slots=True)
class Purse:
    """What all steps together may still take, in tokens and US dollars; None: no limit."""

    tokens: int | None
    usd: float | None

    @property
    def is_bounded(self) -> bool:
        """Whether there is any limit."""
        return self.tokens is not None or self.usd is not None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left."""
        return (self.tokens is not None and self.tokens < 1) or (self.usd is not None and self.usd <= 0)

    def without(self, taken: Budget | None) -> "Purse":
        """What is left after a job that has taken so much of its budget."""
        if taken is None:
            return self
        return Purse(
            None if self.tokens is None else self.tokens - taken.tokens_taken,
            None if self.usd is None else self.usd - taken.usd_taken,
        )

    def options(self, profile: str, concurrency: int) -> dict[str, str | int | float]:
        """Of a step's job."""
        return arguments.options(
            concurrency=concurrency,
            profile=profile,
            deadline=_DEADLINE_SECONDS,
            budget_tokens=self.tokens,
            budget_usd=self.usd,
        )


def tune(
    profile: ProfileName,
    paths: arguments.Paths,
    up_to: UpTo = None,
    documents: Most = None,
    account: arguments.Account = None,
    budget_tokens: arguments.BudgetTokens = None,
    budget_usd: arguments.BudgetUsd = None,
    yes: Yes = False,
    as_json: arguments.Json = False,
) -> None:
    """Measure a profile, 1, 2, 4, 8 … documents at once, and recommend a concurrency with headroom.

    Each step is a job of its own through real workers: it is stored and paid for like any other, and nobody is told of
    its end. It stops where the provider refuses, where more brings no more, or where documents or budget run out. What
    costs needs --yes or a budget, which all steps share.
    """
    settings = door.settings()
    purse = Purse(budget_tokens, budget_usd)
    job_options.check_budget(job_options.parse(purse.options(profile, 1)), settings.profile(profile))
    bound = _bound(settings, up_to)
    calls = _readable(read_paths(paths, account), documents or sum(tuning.steps(bound).values()))
    _agree(settings, profile, calls, bound, agreed=yes or purse.is_bounded)
    with Stack.start(settings) as stack:
        migrate(stack.urls.database)
        plant = Plant(settings, stack.urls, Ledger(stack.urls.database))
        _check_gate(plant.ledger, profile)
        finish.have_workers(settings, stack)
        steps = list(_steps(plant, profile, calls, bound, purse))
    advice = tuning.recommended(steps)
    if as_json:
        screen.answer(
            {"profile": profile, "steps": list(map(_value, steps)), "recommended": advice.limit, "why": advice.why}
        )
    else:
        _print(profile, steps, advice)
    if advice.limit is None:
        raise typer.Exit(1)


def _bound(settings: Settings, up_to: int | None) -> int:
    """More lanes than a worker has slots measure the worker, not the provider."""
    if up_to is not None and up_to > settings.process_slots:
        raise InvalidRequest([Problem("--up-to", "a worker has fewer slots: raise CALLFOLD_PROCESS_SLOTS, too")])
    return up_to or settings.process_slots


def _readable(documents: Iterator[IncomingDocument | Problem], most: int) -> list[IncomingDocument]:
    """The first documents that hold words; the others would end before they reach the provider."""
    found: list[IncomingDocument] = []
    for document in documents:
        if isinstance(document, Problem):
            raise InvalidRequest([document])
        if document.transcript is not None:
            found.append(document)
        if len(found) == most:
            break
    if not found:
        raise InvalidRequest("no documents to measure with: hand in at least one that holds words")
    return found


def _agree(settings: Settings, profile: str, calls: Sequence[IncomingDocument], bound: int, *, agreed: bool) -> None:
    """Say what it may take before it is spent, and refuse it unless that was agreed to."""
    one_each = estimate(settings, profile, calls, language=None, concurrency=1, known={}).budget
    numbers = tuning.steps(bound, len(calls)).values()
    times = sum(numbers) / len(calls)
    usd = f" or {one_each.usd * times:.2f} USD" if one_each.usd else ""
    spent = f", about {one_each.tokens * times:,.0f} tokens{usd}" if one_each.tokens else ""
    most = f"at most {sum(numbers)} documents in {len(numbers)} steps{spent}"
    if spent and not agreed:
        raise InvalidRequest([Problem("--yes", f"it takes {most}: agree, or give --budget-tokens or --budget-usd")])
    screen.note(f"callfold: {most}")


def _check_gate(ledger: Ledger, profile: str) -> None:
    """Behind a shut gate nothing would be measured but the wait for it. Raises InvalidRequest."""
    with ledger.statement() as tx:
        shut = next((gate for gate in gates.all_shut(tx) if gate.profile == profile), None)
    if shut is not None:
        why = shut.opened_for or shut.error_code
        raise InvalidRequest(f"the gate of {profile} is shut ({why}): wait, or `callfold resume {profile}` once mended")


def _steps(
    plant: Plant, profile: str, calls: Sequence[IncomingDocument], bound: int, purse: Purse
) -> Iterator[Measured]:
    """One step after the other, as long as twice as many at once may bring more."""
    night, steps = f"{MEASUREMENT}{profile}-{datetime.now(UTC):%Y%m%dT%H%M%S}", list[Measured]()
    turns = cycle(calls)  # the next step begins with other documents than the last: a provider caches what it has read
    for concurrency, number in tuning.steps(bound, len(calls)).items():
        chosen = list(islice(turns, number))
        step = measure(plant, chosen, purse.options(profile, concurrency), f"{night}-{concurrency}")
        steps.append(step.measured)
        screen.note(f"callfold: {concurrency} at once: {_said(steps[-1])}")
        yield steps[-1]
        purse = purse.without(step.taken)
        if not tuning.is_worth_another(steps) or purse.is_empty:
            return


def _said(step: Measured) -> str:
    return f"{step.per_minute:.1f} documents a minute" + (f"; {step.trouble}" if step.trouble else "")


def _value(step: Measured) -> dict[str, object]:
    return {**asdict(step), "documents_per_minute": step.per_minute, "trouble": step.trouble}


def _print(profile: str, steps: Sequence[Measured], advice: Advice) -> None:
    headings = ("at once", "documents", "a minute", "oldest waited", "429s", "other codes", "median", "p95", "memory")
    screen.table(headings, map(_row, steps))
    screen.line()
    if advice.limit is None:
        screen.line(f"no limit to recommend for {profile}: {advice.why}")
    else:
        screen.line(f"recommended for {profile}: --concurrency {advice.limit}: {advice.why}")


def _row(step: Measured) -> Iterator[object]:
    others = ", ".join(f"{number} {code}" for code, number in step.codes.items() if code != "rate_limited")
    yield from (step.concurrency, step.documents, f"{step.per_minute:.1f}")
    yield f"{step.oldest_age:.1f} s" + (", rising" if step.is_rising else "")
    yield from (step.codes.get("rate_limited", 0), others)
    yield from (
        f"{seconds:.2f} s" if seconds is not None else None for seconds in (step.median_latency, step.p95_latency)
    )
    yield f"{step.memory / _MEBIBYTE:.0f} MiB" if step.memory else None
