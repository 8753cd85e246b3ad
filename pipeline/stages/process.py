"""Process: one document, from its message to its settled outcome.

    start | count tokens | summarize | verify quotes | settle and release the lane's next

The database decides whether a message may start its item; a message that may not ends quietly. No model call and no
counting happens inside a transaction.
"""

from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID, uuid4

import structlog

from pipeline.domain import lifecycle
from pipeline.domain.failure import Decision
from pipeline.domain.lifecycle import Fail, Succeed, Transition
from pipeline.errors import LedgerError, LedgerUnavailable, StaleArrow
from pipeline.ledger import attempts, items, jobs, releases
from pipeline.ledger.connection import Transaction
from pipeline.ledger.items import Ended, Outcome, Started
from pipeline.ledger.jobs import LockedJob
from pipeline.ledger.releases import Released
from pipeline.stages.bench import Bench
from pipeline.stages.commands import Command, after
from pipeline.stages.verdicts import at_the_gate, failed, item_of
from pipeline.stages.work import Work, ids_of, work

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Processed:
    """What became of a message.

    `settled` is false where it ended quietly (and must leave its chord). `next` is the document that takes over the
    lane, `commands` what else follows.
    """

    settled: bool
    next: Released | None = None
    commands: tuple[Command, ...] = ()


def process(bench: Bench, released: Released) -> Processed:
    """Work on one released document. Whatever goes wrong in the work ends as an outcome of its attempt."""
    started = _start(bench, released)
    if started is None:
        return _refused(bench, released)
    with bench.leases.held(started.attempt_id, started.seconds):
        return _settle(bench, started, work(bench, started))


def _start(bench: Bench, released: Released) -> Started | None:
    """Claim the item. While PostgreSQL is away, wait for as long as nobody would send the message again."""
    return bench.patience(bench.settings.lease_seconds)(_start_once, bench, released, uuid4())


def _start_once(bench: Bench, released: Released, attempt_id: UUID) -> Started | None:
    with bench.ledger.statement() as tx:
        started = items.start(
            tx,
            released,
            attempt_id=attempt_id,
            worker=bench.worker,
            lease=bench.settings.lease_seconds,
            attempt_seconds=bench.settings.attempt_seconds,
        )
        # Refused it may be because this very claim was committed before and its answer lost.
        return started or items.started_as(tx, released, attempt_id)


def _refused(bench: Bench, released: Released) -> Processed:
    """A message that may not start: only before a shut gate does it give its lane back."""
    with bench.ledger.statement() as tx:
        refusal = items.refusal(tx, released)
    log.debug("process.quiet", job_id=str(released.job_id), position=released.position, reason=refusal.reason)
    if refusal.reason == "gate-shut":
        _hold(bench, released)
    return Processed(settled=False)


def _hold(bench: Bench, released: Released) -> None:
    """The document is due at once, and waits for the gate alone: whatever opens it also lets the document through."""
    try:
        with bench.ledger.transaction() as tx:
            job = jobs.lock(tx, released.job_id)
            items.hold(tx, job, released, job.now)
    except StaleArrow:
        log.debug("process.quiet", job_id=str(released.job_id), position=released.position, reason="hold-overtaken")


def _settle(bench: Bench, started: Started, done: Work) -> Processed:
    """Store the outcome, fenced by the attempt, and release the next document; a lost answer is looked up.

    While PostgreSQL is away the result is kept and offered again for as long as the attempt may live: it may have been
    paid for.
    """
    next_dispatch = uuid4()
    # Offered again, what is refused would be refused again, each time after another paid call.
    bad = Work(calls=[], error_code="internal_error", detail="the ledger refused the result: see the log")
    for offer in (done, replace(bad, calls=done.calls, usage=done.usage, model=done.model)):
        try:
            return bench.patience()(_settle_once, bench, started, offer, next_dispatch)
        except LedgerUnavailable:
            raise
        except LedgerError as refused:
            log.error("process.refused_by_the_ledger", **ids_of(started), error=str(refused))
    return bench.patience()(_settle_once, bench, started, bad, next_dispatch)


def _settle_once(bench: Bench, started: Started, done: Work, next_dispatch: UUID) -> Processed:
    event, outcome, decision = _verdict(bench, started, done)
    try:
        with bench.ledger.transaction() as tx:
            job = jobs.lock(tx, started.job_id)
            if isinstance(event, Fail) and decision is not None:
                event = at_the_gate(tx, job, started, event, decision, bench.settings.lease_seconds)
            transition = lifecycle.apply(item_of(started, job), event, job.now)
            ended = replace(outcome, outcome=_ended_as(transition))
            own = [started.lane] if started.lane < job.concurrency else []
            lane, next_released = items.settle_and_release(
                tx, job, started, transition.item, transition.reason, ended, done.calls, own, next_dispatch
            )
            if next_released is None and lane not in own:
                next_released = _release_next(tx, job, lane, next_dispatch)
    except StaleArrow:
        return _overtaken(bench, started, outcome, done, next_dispatch)
    log.info("process.settled", **ids_of(started), reason=transition.reason, code=done.error_code or None)
    final = int(transition.item.state in lifecycle.TERMINAL)
    return Processed(settled=True, next=next_released, commands=after(job, final))


def _release_next(tx: Transaction, job: LockedJob, lane: int | None, dispatch: UUID) -> Released | None:
    lanes = [lane] if lane is not None and lane < job.concurrency else releases.free_lanes(tx, job, 1)
    return next(iter(releases.release(tx, job, lanes, [dispatch])), None)


def _overtaken(bench: Bench, started: Started, outcome: Outcome, done: Work, next_dispatch: UUID) -> Processed:
    """Either this very settle was committed before and its answer lost, or the item has moved on without us."""
    with bench.ledger.transaction() as tx:
        if attempts.has_ended(tx, started.attempt_id):
            next_released = releases.released_as(tx, started.job_id, next_dispatch)
            follows = after(jobs.lock(tx, started.job_id), ended=0)
            return Processed(settled=next_released is not None, next=next_released, commands=follows)
        kept = items.keep_late(tx, started.attempt_id, outcome)
        attempts.record_calls(tx, started.attempt_id, done.calls)
    log.warning("process.late", **ids_of(started), kept=kept)
    return Processed(settled=False)


def _verdict(bench: Bench, started: Started, done: Work) -> tuple[Succeed | Fail, Outcome, Decision | None]:
    """The event, the outcome to store, and the decision behind a failure."""
    if done.result is not None and done.result.result_hash is not None:
        used = _with_usage(done.result, done)
        return Succeed(started.number, str(started.attempt_id), done.result.result_hash), used, None
    if not done.error_code:
        given_back = Outcome(outcome="requeued", error_detail=done.detail)
        return _given_back(started, done), _with_usage(given_back, done), None
    event, decision = failed(bench.ledger, started, done.error_code, done.retry_after)
    outcome = Outcome(outcome="failed", error_code=done.error_code, error_detail=done.detail)
    return event, _with_usage(outcome, done), decision


def _with_usage(outcome: Outcome, done: Work) -> Outcome:
    used = done.usage
    return replace(
        outcome,
        input_tokens=used.input_tokens,
        cached_tokens=used.cached_tokens,
        output_tokens=used.output_tokens,
        cost_usd=used.cost_usd,
        unknown_calls=used.unknown_calls,
        model=outcome.model or done.model,
    )


def _given_back(started: Started, done: Work) -> Fail:
    """Uncharged before its first call, and where it made way. Calls of which none succeeded could go on so for ever."""
    codes = [call.error_code for call in done.calls]
    code = codes[-1] if codes and None not in codes else None
    wait = timedelta(seconds=done.wait)
    return Fail(started.number, code or "rate_limited", retryable=True, wait=wait, charged=code is not None)


def _ended_as(transition: Transition) -> Ended:
    match transition.reason, transition.item.state:
        case ("requeued" | "expired") as reason, _:
            return reason
        case _, ("succeeded" | "failed" | "skipped") as state:
            return state
    raise AssertionError(transition.reason)  # an attempt's own end has no other
