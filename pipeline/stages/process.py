"""Process: one document, from its message to its settled outcome.

    start | count tokens | summarize | verify quotes | settle and release the lane's next

The database decides whether a message may start its item; a message that may not ends quietly. No model call and no
counting happens inside a transaction.
"""

import random
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from hashlib import sha256
from time import monotonic
from typing import Final
from uuid import UUID, uuid4

import structlog
from pydantic import TypeAdapter
from pydantic_core import to_json
from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_exponential

from pipeline.domain import failure, lifecycle
from pipeline.domain.canonical import canonical
from pipeline.domain.documents import DocumentFields, Transcript, Turn
from pipeline.domain.groups import MergeGroup
from pipeline.domain.lifecycle import Fail, Item, Succeed, Transition
from pipeline.domain.results import Summary
from pipeline.domain.verify_quotes import verify_quotes
from pipeline.errors import ItemFailure, LedgerError, LedgerUnavailable, StaleArrow
from pipeline.ledger import attempts, gates, items, jobs, texts
from pipeline.ledger.attempts import Call
from pipeline.ledger.connection import Ledger, Transaction
from pipeline.ledger.items import Ended, Outcome, Refusal, Released, Started
from pipeline.ledger.jobs import LockedJob
from pipeline.ledger.texts import StoredText
from pipeline.settings import Profile, Settings
from pipeline.stages.commands import Command, Freeze, Reduce
from pipeline.stages.leases import Leases
from pipeline.summarizers.port import Summarizer, SummaryRequest
from pipeline.summarizers.tokens import count_tokens

log = structlog.get_logger(__name__)

_TURNS: Final = TypeAdapter(tuple[Turn, ...])


@dataclass(frozen=True, slots=True)
class Bench:
    """What a worker process works with; made once per process."""

    ledger: Ledger
    settings: Settings
    leases: Leases
    summarizer: Callable[[str], Summarizer]
    worker: str


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
    with bench.leases.held(started.attempt_id):
        work = _work(bench, started)
        return _settle(bench, started, work)


def _start(bench: Bench, released: Released) -> Started | None:
    with bench.ledger.statement() as tx:
        return items.start(
            tx,
            released,
            attempt_id=uuid4(),
            worker=bench.worker,
            lease=bench.settings.lease_seconds,
            attempt_seconds=bench.settings.attempt_seconds,
        )


def _refused(bench: Bench, released: Released) -> Processed:
    """A message that may not start: only where the gate is paused does it give its lane back."""
    with bench.ledger.statement() as tx:
        refusal = items.refusal(tx, released)
    log.debug("process.quiet", job_id=str(released.job_id), position=released.position, reason=refusal.reason)
    if refusal.held_until is not None:
        _hold(bench, released, refusal)
    return Processed(settled=False)


def _hold(bench: Bench, released: Released, refusal: Refusal) -> None:
    assert refusal.held_until is not None  # noqa: S101 - the caller has just asked
    try:
        with bench.ledger.transaction() as tx:
            job = jobs.lock(tx, released.job_id)
            items.hold(tx, job, released, refusal.held_until)
    except StaleArrow:
        log.debug("process.quiet", job_id=str(released.job_id), position=released.position, reason="hold-overtaken")


@dataclass(slots=True)
class _Work:
    """What an attempt came to: either a result or the code and our own sentence, and the calls it took."""

    calls: list[Call]
    result: Outcome | None = None
    error_code: str = ""
    detail: str = ""
    retry_after: float | None = None


def _work(bench: Bench, started: Started) -> _Work:
    work = _Work(calls=[])
    try:
        _summarize(bench, started, work)
    except ItemFailure as failed:
        work.error_code, work.detail, work.retry_after = failed.error_code, failed.detail, failed.retry_after
    except BaseException as error:  # noqa: BLE001 - a thread's slot leaks if MemoryError or SystemExit leaves the task
        # The error's own words may be a customer's: only its type and its place are kept.
        work.error_code, work.detail = (
            "internal_error",
            f"{type(error).__name__} while summarizing; see the worker's log",
        )
        places = [f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]
        log.error("process.internal_error", **_ids(started), error=type(error).__name__, places=places)
    return work


def _summarize(bench: Bench, started: Started, work: _Work) -> None:
    profile = bench.settings.profile(started.profile)
    transcript = Transcript(turns=_TURNS.validate_json(started.turns))
    fields = _fields(started)
    _check_size(bench, profile, transcript)
    summary = _call(bench, profile, started, fields, transcript, work)

    def lookup(document_id: str) -> tuple[MergeGroup, Transcript] | None:
        other = _patience(bench)(_read_text, bench, started.job_id, document_id)
        return (other.group, Transcript(turns=_TURNS.validate_json(other.turns))) if other else None

    found = verify_quotes(summary.actions, fields, transcript, lookup)
    work.result = _result(summary, to_json(found).decode())


def _result(summary: Summary, actions: str) -> Outcome:
    used = summary.usage
    return Outcome(
        outcome="succeeded",
        result_hash=sha256(canonical([summary.summary, actions])).hexdigest(),
        summary=summary.summary,
        actions=actions,
        warnings=to_json(summary.warnings).decode(),
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cost_usd=used.cost_usd,
        model=summary.model,
    )


def _read_text(bench: Bench, job_id: UUID, document_id: str) -> StoredText | None:
    with bench.ledger.statement() as tx:
        return texts.of_document(tx, job_id, document_id)


def _check_size(bench: Bench, profile: Profile, transcript: Transcript) -> None:
    """A token is at least one byte: most calls need no counting to be known as small enough."""
    limit = profile.max_input_tokens
    if sum(len(turn.text) + len(turn.speaker or "") + 3 for turn in transcript.turns) * 4 <= limit:
        return
    cache = bench.settings.data_dir / "tiktoken"
    counted = count_tokens(transcript, profile.encoding, cache, limit)
    if counted > limit:
        raise ItemFailure(
            "input_too_large", f"more than the profile's {limit} tokens ({profile.encoding}): split the call"
        )


def _call(
    bench: Bench, profile: Profile, started: Started, fields: DocumentFields, transcript: Transcript, work: _Work
) -> Summary:
    """Ask the summarizer; where its output does not hold, again in the same attempt with the problem named."""
    summarizer = bench.summarizer(profile.summarizer)
    left = monotonic() + (started.attempt_until - started.started_at).total_seconds()
    problem: str | None = None
    while True:
        sequence = len(work.calls) + 1
        began = monotonic()
        request = SummaryRequest(
            fields=fields,
            transcript=transcript,
            language=started.language,
            attempt_number=started.number,
            call_sequence=sequence,
            problem=problem,
            deadline_seconds=left - began,
        )
        try:
            summary = summarizer.summarize(request)
        except ItemFailure as failed:
            work.calls.append(Call(sequence, "summarize", failed.error_code, None, None, None, monotonic() - began))
            if sequence >= failure.POLICIES[failed.error_code].calls:
                raise
            problem = failed.detail
        else:
            used = summary.usage
            work.calls.append(
                Call(
                    sequence,
                    "summarize",
                    None,
                    used.input_tokens,
                    used.output_tokens,
                    used.cost_usd,
                    monotonic() - began,
                )
            )
            return summary


def _settle(bench: Bench, started: Started, work: _Work) -> Processed:
    """Store the outcome, fenced by the attempt, and release the next document; a lost answer is looked up.

    While PostgreSQL is away the result is kept and offered again for as long as the attempt may live: it may have been
    paid for.
    """
    next_dispatch = uuid4()
    try:
        return _patience(bench)(_settle_once, bench, started, work, next_dispatch)
    except LedgerUnavailable:
        raise
    except LedgerError as refused:
        # Offered again it would be refused again, each time after another paid call.
        log.error("process.refused_by_the_ledger", **_ids(started), error=str(refused))
        failed = _Work(calls=[], error_code="internal_error", detail="the ledger refused the result: see the log")
        return _patience(bench)(_settle_once, bench, started, failed, next_dispatch)


def _patience(bench: Bench) -> Retrying:
    """Waits for PostgreSQL for as long as an attempt may live: what is in hand may have been paid for."""
    return Retrying(
        retry=retry_if_exception_type(LedgerUnavailable),
        wait=wait_exponential(multiplier=0.1, max=2.0),
        stop=stop_after_delay(bench.settings.attempt_seconds),
        reraise=True,
    )


def _settle_once(bench: Bench, started: Started, work: _Work, next_dispatch: UUID) -> Processed:
    event, outcome, pause = _verdict(bench, started, work)
    try:
        with bench.ledger.transaction() as tx:
            job = jobs.lock(tx, started.job_id)
            transition = lifecycle.apply(_item(started, job), event, job.now)
            ended = replace(outcome, outcome=_ended_as(transition))
            if pause:
                gates.pause(tx, job.profile, pause, work.error_code)
            own = [started.lane] if started.lane < job.concurrency else []
            lane, next_released = items.settle_and_release(
                tx, job, started, transition.item, transition.reason, ended, work.calls, own, next_dispatch
            )
            if next_released is None and lane not in own:
                next_released = _release_next(tx, job, lane, next_dispatch)
    except StaleArrow:
        return _overtaken(bench, started, outcome, work, next_dispatch)
    log.info("process.settled", **_ids(started), reason=transition.reason, code=work.error_code or None)
    return Processed(settled=True, next=next_released, commands=_after(job, transition))


def _release_next(tx: Transaction, job: LockedJob, lane: int | None, dispatch: UUID) -> Released | None:
    lanes = [lane] if lane is not None and lane < job.concurrency else items.free_lanes(tx, job, 1)
    return next(iter(items.release(tx, job, lanes, [dispatch])), None)


def _overtaken(bench: Bench, started: Started, outcome: Outcome, work: _Work, next_dispatch: UUID) -> Processed:
    """Either this very settle was committed before and its answer lost, or the item has moved on without us."""
    with bench.ledger.transaction() as tx:
        if attempts.has_ended(tx, started.attempt_id):
            next_released = items.released_as(tx, started.job_id, next_dispatch)
            return Processed(settled=next_released is not None, next=next_released)
        kept = items.keep_late(tx, started.attempt_id, outcome)
        attempts.record_calls(tx, started.attempt_id, work.calls)
    log.warning("process.late", **_ids(started), kept=kept)
    return Processed(settled=False)


def _verdict(bench: Bench, started: Started, work: _Work) -> tuple[Succeed | Fail, Outcome, float]:
    """The event and the outcome to store, and for how many seconds the profile's gate pauses."""
    if work.result is not None and work.result.result_hash is not None:
        return Succeed(started.number, str(started.attempt_id), work.result.result_hash), work.result, 0.0
    with bench.ledger.statement() as tx:
        before, waited = attempts.tries_so_far(tx, started.job_id, started.position, work.error_code)
    decision = failure.decide(
        work.error_code,
        tries=before + 1,
        waited=waited,
        retry_after=work.retry_after,
        jitter=random.random(),  # noqa: S311 - a spread of waits, not a secret
    )
    event = Fail(
        started.number,
        work.error_code,
        retryable=decision.retry,
        wait=timedelta(seconds=decision.wait),
        charged=decision.charged,
        skips=decision.ends_as == "skipped",
    )
    outcome = Outcome(outcome="failed", error_code=work.error_code, error_detail=work.detail)
    return event, outcome, decision.wait if decision.pause_gate else 0.0


def _item(started: Started, job: LockedJob) -> Item:
    """The item as this attempt holds it; whether it still does is for the guarded statement to say."""
    return Item(
        state="running",
        expires_at=job.expires_at,
        job_cancelled=job.state == "cancelled",
        version=started.version,
        attempt_count=started.number,
        charged=started.charged,
        max_attempts=job.max_attempts,
    )


def _ended_as(transition: Transition) -> Ended:
    match transition.reason, transition.item.state:
        case ("requeued" | "expired") as reason, _:
            return reason
        case _, ("succeeded" | "failed" | "skipped") as state:
            return state
    raise AssertionError(transition.reason)  # an attempt's own end has no other


def _after(job: LockedJob, transition: Transition) -> tuple[Command, ...]:
    """What follows when the last open document has ended; a chord that is whole asks for the reducer as well."""
    still_open = job.pending + job.running - (transition.item.state in lifecycle.TERMINAL)
    if still_open:
        return ()
    return (Reduce(job.job_id),) if job.state == "running" else (Freeze(job.job_id),)


def _fields(started: Started) -> DocumentFields:
    return DocumentFields(
        document_id=started.document_id,
        account_id=started.account_id,
        consent_scope=started.consent_scope,
        retention_class=started.retention_class,
        occurred_at=started.occurred_at,
        opportunity_id=started.opportunity_id,
        contact_id=started.contact_id,
        owner_hint=started.owner_hint,
    )


def _ids(started: Started) -> dict[str, str | int]:
    return {
        "job_id": str(started.job_id),
        "document_id": started.document_id,
        "attempt_id": str(started.attempt_id),
        "attempt": started.number,
    }
