"""Verdicts: what the rules are told of an attempt that ended without a result, by its worker or by reconcile."""

import random
from datetime import timedelta

from pipeline.domain import failure
from pipeline.domain.failure import Decision
from pipeline.domain.lifecycle import Fail, Item
from pipeline.ledger import attempts
from pipeline.ledger.connection import Ledger
from pipeline.ledger.items import Held
from pipeline.ledger.jobs import LockedJob


def failed(ledger: Ledger, held: Held, error_code: str, retry_after: float | None = None) -> tuple[Fail, Decision]:
    """The failure as an event, and the decision behind it: how often and how long the item has failed so before."""
    with ledger.statement() as tx:
        before, waited = attempts.tries_so_far(tx, held.job_id, held.position, error_code)
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
        wait=timedelta(seconds=decision.wait),
        charged=decision.charged,
        skips=decision.ends_as == "skipped",
    )
    return event, decision


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
