r"""An item's arrows: one function, one guarded statement each. No row matched raises StaleArrow.

    released --start--> running --settle--> succeeded | failed | skipped
       |                   |
       '--hold--> pending <'--settle (requeue) | lose

What an event makes of an item is decided in `domain.lifecycle`; here stands whether it still may. Transitions that
show outside raise the job's version by one and append one event with it; the caller holds the job row's lock.
Releases stand in `releases.py`, progress in `checkpoints.py`, sweeps of thousands in `sweeps.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, LiteralString
from uuid import UUID

from pipeline.domain.lifecycle import TERMINAL, Item
from pipeline.errors import StaleArrow
from pipeline.ledger import checkpoints, gates
from pipeline.ledger.attempts import Call, recording
from pipeline.ledger.connection import Statement, Transaction, together
from pipeline.ledger.jobs import LockedJob
from pipeline.ledger.releases import Released, releasing


@dataclass(frozen=True, slots=True)
class Held:
    """An item in the hands of an attempt: `number` is the fence."""

    job_id: UUID
    position: int
    attempt_id: UUID
    number: int
    charged: int
    alone: bool
    losses_alone: int


@dataclass(frozen=True, slots=True)
class Started(Held):
    """A claimed item: the attempt that holds it and all that the work needs, in one read."""

    version: int
    lane: int
    started_at: datetime
    attempt_until: datetime
    document_id: str
    account_id: str
    consent_scope: str
    retention_class: str
    occurred_at: datetime | None
    opportunity_id: str | None
    contact_id: str | None
    owner_hint: str | None
    profile: str
    language: str | None
    max_attempts: int
    expires_at: datetime
    turns: str

    @property
    def seconds(self) -> float:
        """The attempt's wall clock, as long on any machine."""
        return (self.attempt_until - self.started_at).total_seconds()


Ended = Literal["succeeded", "failed", "skipped", "requeued", "expired", "lost"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an attempt ended. A result has `result_hash`, `summary`, `actions` and `warnings` (JSON texts)."""

    outcome: Ended
    error_code: str | None = None
    error_detail: str | None = None
    result_hash: str | None = None
    summary: str | None = None
    actions: str | None = None
    warnings: str | None = None
    input_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    unknown_calls: int = 0
    model: str | None = None


_HELD: LiteralString = """
       job_id, position, attempt_id, attempt_count, charged, alone, losses_alone, version, lane, started_at,
       attempt_until, document_id, account_id, consent_scope, retention_class, occurred_at, opportunity_id, contact_id,
       owner_hint, profile, language, max_attempts, expires_at, turns"""

#: Words belong to the root job: its successors read the same.
_WORDS: LiteralString = """
       (SELECT job_id AS root_job_id, position, turns FROM texts) AS words USING (root_job_id, position)"""

# One row by its key: no job lock is needed, for nothing shows outside. A cancel that commits at the same moment comes
# after this start; a start that sees the cancel does not happen.
_START = f"""
WITH clock AS MATERIALIZED (SELECT clock_timestamp() AS now), claimed AS (
    UPDATE items
       SET state = 'running', version = items.version + 1, attempt_count = attempt_count + 1,
           attempt_id = %(attempt)s, suspect = false, progress = 0, cursor = 0,
           attempt_until = now + %(attempt_seconds)s * interval '1 second',
           lease_until = now + least(%(lease)s, %(attempt_seconds)s) * interval '1 second'
      FROM jobs, clock
     WHERE items.job_id = %(job)s AND items.position = %(position)s
       AND items.dispatch_id = %(dispatch)s AND items.state = 'released'
       AND jobs.job_id = items.job_id AND jobs.state = 'running' AND now < jobs.expires_at
       AND NOT {gates.shut("jobs.profile", "now", probes="ARRAY[%(dispatch)s::uuid]")}
    RETURNING items.*, now AS started_at, jobs.profile, jobs.language, jobs.max_attempts, jobs.expires_at,
              jobs.root_job_id
), attempt AS (
    INSERT INTO attempts (attempt_id, job_id, position, number, dispatch_id, worker, published_at, started_at, alone)
    SELECT attempt_id, job_id, position, attempt_count, dispatch_id, %(worker)s, published_at, started_at, alone
      FROM claimed
)
SELECT {_HELD}
  FROM claimed JOIN {_WORDS}
"""


def start(
    tx: Transaction, released: Released, *, attempt_id: UUID, worker: str, lease: float, attempt_seconds: float
) -> Started | None:
    """released -> running, for this dispatch only; None where it may not start (`refusal` says why)."""
    parameters = {
        "job": released.job_id,
        "position": released.position,
        "dispatch": released.dispatch_id,
        "attempt": attempt_id,
        "worker": worker,
        "lease": lease,
        "attempt_seconds": attempt_seconds,
    }
    [rows] = together(tx, Statement(_START, parameters))
    return Started(*rows[0]) if rows else None


_STARTED_AS = f"""
SELECT {_HELD}
  FROM (SELECT items.*, attempts.started_at, jobs.profile, jobs.language, jobs.max_attempts, jobs.expires_at,
               jobs.root_job_id
          FROM items JOIN attempts USING (job_id, position, attempt_id) JOIN jobs USING (job_id)
         WHERE job_id = %(job)s AND position = %(position)s AND attempt_id = %(attempt)s AND items.state = 'running'
       ) AS claimed JOIN {_WORDS}
"""


def started_as(tx: Transaction, released: Released, attempt_id: UUID) -> Started | None:
    """The item as this attempt holds it: for a start whose COMMIT was made and its answer lost."""
    parameters = {"job": released.job_id, "position": released.position, "attempt": attempt_id}
    row = tx.exec_driver_sql(_STARTED_AS, parameters).one_or_none()
    return Started(*row) if row is not None else None


_REFUSAL = """
SELECT items.state, items.dispatch_id = %(dispatch)s AS same_dispatch, items.attempt_id, jobs.state AS job_state,
       clock_timestamp() >= jobs.expires_at AS expired
  FROM items JOIN jobs USING (job_id)
 WHERE job_id = %(job)s AND position = %(position)s
"""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a message could not start its item; `gate-shut` where nothing else stood in the way."""

    reason: Literal["unknown", "old-dispatch", "already-running", "terminal", "job-not-running", "expired", "gate-shut"]
    attempt_id: UUID | None = None


def refusal(tx: Transaction, released: Released) -> Refusal:
    """Read once more why the start matched no row."""
    parameters = {"job": released.job_id, "position": released.position, "dispatch": released.dispatch_id}
    row = tx.exec_driver_sql(_REFUSAL, parameters).one_or_none()
    if row is None:
        return Refusal("unknown")
    if row.state in {"succeeded", "failed", "skipped"}:
        return Refusal("terminal", row.attempt_id)
    if not row.same_dispatch:
        return Refusal("old-dispatch", row.attempt_id)
    if row.state == "running":
        return Refusal("already-running", row.attempt_id)
    if row.job_state != "running":
        return Refusal("job-not-running")
    if row.expired:
        return Refusal("expired")
    return Refusal("gate-shut")


_HOLD = """
WITH held AS (
    UPDATE items
       SET state = 'pending', version = version + 1, lane = NULL, dispatch_id = NULL, available_at = %(until)s
     WHERE job_id = %(job)s AND position = %(position)s AND dispatch_id = %(dispatch)s AND state = 'released'
    RETURNING job_id, position, attempt_count
), counted AS (
    UPDATE jobs SET pending = pending + 1, running = running - 1, version = version + 1
     WHERE job_id = (SELECT job_id FROM held)
    RETURNING job_id, version
)
INSERT INTO events (job_id, version, kind, position, attempt, at)
SELECT job_id, counted.version, 'held', position, attempt_count, %(now)s FROM held JOIN counted USING (job_id)
"""


def hold(tx: Transaction, job: LockedJob, released: Released, until: datetime) -> None:
    """released -> pending, no attempt spent: the provider's gate is shut. Raises StaleArrow."""
    if job.expired:
        raise StaleArrow("hold", "the deadline has come")
    parameters = {
        "job": job.job_id,
        "position": released.position,
        "dispatch": released.dispatch_id,
        "until": until,
        "now": job.now,
    }
    if tx.exec_driver_sql(_HOLD, parameters).rowcount != 1:
        raise StaleArrow("hold", "the item is not released under this dispatch")


# Fenced by the attempt: it must be the item's last one, and either running or lost with no later start. The attempt's
# own row is fenced too, so that one attempt settles once.
_SETTLE = """
WITH prior AS (
    SELECT items.job_id, items.position, items.state, items.lane
      FROM items JOIN attempts USING (job_id, position, attempt_id)
     WHERE items.job_id = %(job)s AND items.position = %(position)s
       AND items.attempt_id = %(attempt)s AND items.attempt_count = %(number)s
       AND (items.state = 'running' AND attempts.outcome IS NULL
            OR items.suspect AND items.state IN ('pending', 'released') AND attempts.outcome = 'lost')
       AND (%(outcome)s <> 'lost' OR items.lease_until < %(now)s)
       FOR UPDATE OF items
), settled AS (
    UPDATE items
       SET state = %(state)s, version = version + 1, lane = NULL, dispatch_id = NULL, lease_until = NULL,
           attempt_until = NULL, available_at = %(available_at)s, charged = %(charged)s, progress = %(progress)s,
           cursor = 0, suspect = %(suspect)s, alone = %(alone)s, losses_alone = %(losses_alone)s,
           error_code = %(item_error_code)s, error_detail = %(item_error_detail)s, finished_at = %(finished_at)s
      FROM prior
     WHERE items.job_id = prior.job_id AND items.position = prior.position
    RETURNING items.job_id, items.position, prior.state AS prior_state, prior.lane AS prior_lane
), attempt AS (
    UPDATE attempts
       SET ended_at = %(now)s, outcome = %(outcome)s, error_code = %(error_code)s, error_detail = %(error_detail)s,
           summary = %(summary)s, actions = %(actions)s, warnings = %(warnings)s, result_hash = %(result_hash)s,
           input_tokens = %(input_tokens)s, cached_tokens = %(cached_tokens)s, output_tokens = %(output_tokens)s,
           cost_usd = %(cost_usd)s, unknown_calls = %(unknown_calls)s, model = %(model)s, charged = %(attempt_charged)s
     WHERE attempt_id = %(attempt)s AND EXISTS (SELECT 1 FROM settled)
), counted AS (
    UPDATE jobs
       SET version = version + 1,
           pending = pending + (%(state)s = 'pending')::int - (prior_state = 'pending')::int,
           running = running - (prior_state IN ('released', 'running'))::int,
           succeeded = succeeded + (%(state)s = 'succeeded')::int,
           failed = failed + (%(state)s = 'failed')::int,
           skipped = skipped + (%(state)s = 'skipped')::int
      FROM settled
     WHERE jobs.job_id = settled.job_id
    RETURNING jobs.job_id, jobs.version
), event AS (
    INSERT INTO events (job_id, version, kind, position, attempt, error_code, at)
    SELECT job_id, counted.version, %(kind)s, position, %(number)s, coalesce(%(item_error_code)s, %(error_code)s),
           coalesce(%(finished_at)s, %(now)s)
      FROM settled JOIN counted USING (job_id)
)
SELECT prior_lane FROM settled
"""


def settle(tx: Transaction, job: LockedJob, held: Held, item: Item, kind: str, outcome: Outcome) -> int | None:
    """running -> `item.state`, for this attempt only; returns the lane that it frees, if it held one.

    `item` is what `lifecycle.apply` made of it, `kind` the transition's name. The outcome `lost` asks for a lease that
    has run out. Raises StaleArrow where the item has moved on: then the caller rolls back, and keeps a result on its
    attempt (`keep_late`).
    """
    forgotten = [checkpoints.forgetting(job.job_id, held.position)] if _needs_no_checkpoints(item) else []
    settled, *_ = together(tx, _settling(job, held, item, kind, outcome), *forgotten)
    return _freed_lane(settled)


def settle_and_release(
    tx: Transaction,
    job: LockedJob,
    held: Held,
    item: Item,
    kind: str,
    outcome: Outcome,
    calls: Sequence[Call],
    lanes: Sequence[int],
    dispatch: UUID,
) -> tuple[int | None, Released | None]:
    """`settle`, the attempt's calls and `release` into a lane of `lanes` that is then free, in one round trip.

    A result also tells the provider's gate, before that is asked for the release. Returns the lane that was freed, and
    the document that was released. Raises StaleArrow as `settle` does: the caller must roll back, for the release has
    been done in this transaction as well.
    """
    told = [gates.succeeding(job.profile, held.attempt_id)] if outcome.result_hash is not None else []
    if _needs_no_checkpoints(item):
        told.append(checkpoints.forgetting(job.job_id, held.position))
    settled, *_, released = together(
        tx,
        _settling(job, held, item, kind, outcome),
        recording(held.attempt_id, calls),
        *told,
        releasing(job, lanes, [dispatch]),
    )
    return _freed_lane(settled), next((Released(*row) for row in released), None)


def _needs_no_checkpoints(item: Item) -> bool:
    """Where the budget was spent, a successor's attempt goes on from them (`successors.admit`)."""
    return item.state in TERMINAL and item.error_code != "budget_exhausted"


def _freed_lane(settled: list[tuple[int | None]]) -> int | None:
    if not settled:
        raise StaleArrow("settle", "a later attempt has started or the item is terminal")
    return settled[0][0]


def _settling(job: LockedJob, held: Held, item: Item, kind: str, outcome: Outcome) -> Statement:
    item_error_code = item.error_code if item.state in {"failed", "skipped"} else None
    parameters = _outcome_parameters(outcome) | {
        "job": job.job_id,
        "position": held.position,
        "attempt": held.attempt_id,
        "number": held.number,
        "state": item.state,
        "available_at": item.available_at,
        "charged": item.charged,
        "progress": item.progress,
        "suspect": item.suspect,
        "alone": item.alone,
        "losses_alone": item.losses_alone,
        "attempt_charged": item.charged > held.charged,
        "item_error_code": item_error_code,
        # Where the deadline or a cancel ended it, the attempt's own sentence explains another code.
        "item_error_detail": outcome.error_detail
        if item_error_code and item_error_code == outcome.error_code
        else None,
        "finished_at": item.finished_at,
        "now": job.now,
        "kind": "skipped" if item.state == "skipped" else kind,
    }
    return Statement(_SETTLE, parameters)


# The code with which the attempt was given up stays: a call that times out and then answers has had its try.
_KEEP_LATE = """
UPDATE attempts
   SET ended_at = clock_timestamp(), outcome = 'late', error_code = coalesce(error_code, %(error_code)s),
       error_detail = CASE WHEN error_code IS NULL THEN %(error_detail)s ELSE error_detail END,
       summary = %(summary)s, actions = %(actions)s, warnings = %(warnings)s, result_hash = %(result_hash)s,
       input_tokens = %(input_tokens)s, cached_tokens = %(cached_tokens)s, output_tokens = %(output_tokens)s,
       cost_usd = %(cost_usd)s, unknown_calls = %(unknown_calls)s, model = %(model)s
 WHERE attempt_id = %(attempt)s
   AND (outcome IS NULL OR outcome IN ('lost', 'expired') AND result_hash IS NULL)
"""


def keep_late(tx: Transaction, attempt_id: UUID, outcome: Outcome) -> bool:
    """Store a result that came too late on its attempt; it is never applied. False where the attempt has one."""
    parameters = _outcome_parameters(outcome) | {"attempt": attempt_id}
    return tx.exec_driver_sql(_KEEP_LATE, parameters).rowcount == 1


def _outcome_parameters(outcome: Outcome) -> dict[str, Any]:
    return {name: getattr(outcome, name) for name in Outcome.__slots__}
