"""Verdicts: what the rules are told of an attempt that ended without a result, by its worker or by reconcile."""

import random
from dataclasses import replace
from datetime import timedelta

from pipeline.domain import failure, gate
from pipeline.domain.failure import Decision
from pipeline.domain.lifecycle import Fail, Item
from pipeline.ledger import attempts, gates
from pipeline.ledger.connection import Ledger, Transaction
from pipeline.ledger.items import Held, Started
from pipeline.ledger.jobs import LockedJob


def failed(ledger: Ledger, held: Held, error_code: str, retry_after: float | None = None) -> tuple[Fail, Decision]:
    """The failure as an event, and the decision behind it: how often and how long the item has failed so before.

    Where the gate waits the item itself does not: it is due as soon as the gate lets it through.
    """
    charged = failure.POLICIES[error_code].charged
    with ledger.statement() as tx:
        before, waited = attempts.tries_so_far(tx, held.job_id, held.position, error_code, charged=charged)
    decision = failure.decide(
        error_code,
        tries=before + 1,
        waited=waited,
        retry_after=retry_after,
        jitter=random.random(),  # noqa: S311 - a spread of waits, not a secret
    )
    event = Fail(
        held.number,
        error_code,
        retryable=decision.retry,
        wait=timedelta(seconds=0.0 if decision.pause_gate else decision.wait),
        charged=decision.charged,
        skips=decision.ends_as == "skipped",
    )
    return event, decision


def at_the_gate(tx: Transaction, job: LockedJob, held: Started, event: Fail, decision: Decision, lease: float) -> Fail:
    """Tell the provider's gate of a failure, under the job's lock; returns it as an open breaker excuses it."""
    if event.code not in gate.CODES:
        return event
    now, before = gates.lock(tx, job.profile)
    document, pause = f"{held.job_id}:{held.position}", decision.wait if decision.pause_gate else 0.0
    after = gate.failed(before, event.code, document, held.started_at, now, pause=pause, lease=lease)
    gates.store(tx, job.profile, after)
    if gate.excuses(after, event.code):
        return replace(event, retryable=True, wait=timedelta(0), charged=False)
    return event


def item_of(held: Held, job: LockedJob) -> Item:
    """The item as this attempt holds it; whether it still does is for the guarded statement to say."""
    return Item(
        state="running",
        expires_at=job.expires_at,
        job_cancelled=job.state == "cancelled",
        attempt_count=held.number,
        charged=held.charged,
        alone=held.alone,
        losses_alone=held.losses_alone,
        max_attempts=job.max_attempts,
    )
