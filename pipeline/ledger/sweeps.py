"""Sweeps: what a cancel or the deadline ends by the thousand, and a person one by one.

    pending | released | running --expire--> failed(expired)      pending | released --cancel--> skipped(cancelled)
    pending | released | running --fail by operator--> failed(failed_by_operator)

The caller holds the job row's lock.
"""

from datetime import datetime
from typing import Final

from pipeline.ledger.connection import Transaction
from pipeline.ledger.jobs import LockedJob

SWEEP_SIZE = 1_000
OPEN: Final = ["pending", "released", "running"]

_CHOSEN = """
       SELECT * FROM items
        WHERE job_id = %(job)s AND state = ANY(%(states)s) AND (%(position)s::int IS NULL OR position = %(position)s)
        ORDER BY position LIMIT %(limit)s FOR UPDATE"""

# A statement of its own, for a start takes no job lock: the sweep must see the attempt of a start that it waited for.
_LOCK = f"SELECT count(*) FROM ({_CHOSEN}) AS locked"

# Numbered in position order: one version and one event each, in one statement.
_SWEEP = f"""
WITH swept AS (
    SELECT job_id, position, attempt_count, attempt_id, state, row_number() OVER (ORDER BY position) AS n
      FROM ({_CHOSEN}) AS locked
), ended AS (
    UPDATE items
       SET state = %(state)s, version = items.version + 1, lane = NULL, dispatch_id = NULL, lease_until = NULL,
           attempt_until = NULL, available_at = NULL, suspect = false, progress = 0, cursor = 0, error_code = %(code)s,
           finished_at = %(at)s
      FROM swept
     WHERE items.job_id = swept.job_id AND items.position = swept.position
), attempt AS (
    -- cut off from outside: what it says later is kept as late
    UPDATE attempts SET ended_at = %(at)s, outcome = %(outcome)s, error_code = %(code)s
      FROM swept
     WHERE attempts.attempt_id = swept.attempt_id AND swept.state = 'running' AND attempts.outcome IS NULL
), forgotten AS (
    DELETE FROM checkpoints USING swept
     WHERE checkpoints.job_id = swept.job_id AND checkpoints.position = swept.position
), tally AS (
    SELECT count(*) AS n, count(*) FILTER (WHERE state = 'pending') AS were_pending FROM swept
), counted AS (
    UPDATE jobs
       SET version = version + n, pending = pending - were_pending, running = running - (n - were_pending),
           failed = failed + CASE WHEN %(state)s = 'failed' THEN n ELSE 0 END,
           skipped = skipped + CASE WHEN %(state)s = 'skipped' THEN n ELSE 0 END
      FROM tally
     WHERE job_id = %(job)s AND n > 0
    RETURNING jobs.version - n AS before
), event AS (
    INSERT INTO events (job_id, version, kind, position, attempt, error_code, at)
    SELECT job_id, before + swept.n, %(kind)s, position, nullif(attempt_count, 0), %(code)s, %(at)s
      FROM swept, counted
)
SELECT n FROM tally
"""


def cancelled(tx: Transaction, job: LockedJob, limit: int = SWEEP_SIZE) -> int:
    """pending | released -> skipped(cancelled), up to `limit` items of a cancelled job; returns how many."""
    return _sweep(tx, job, ["pending", "released"], "skipped", "cancelled", job.now, limit)


def expired(tx: Transaction, job: LockedJob, limit: int = SWEEP_SIZE) -> int:
    """Any open item -> failed(expired), stamped at the deadline, up to `limit` items; returns how many."""
    if not job.expired:
        return 0
    return _sweep(tx, job, OPEN, "failed", "expired", job.expires_at, limit)


def failed_by_operator(tx: Transaction, job: LockedJob, position: int) -> int:
    """The open item at `position` -> failed(failed_by_operator); 0 where it is final already."""
    return _sweep(tx, job, OPEN, "failed", "failed_by_operator", job.now, 1, position)


def _sweep(
    tx: Transaction,
    job: LockedJob,
    states: list[str],
    state: str,
    code: str,
    at: datetime,
    limit: int,
    position: int | None = None,
) -> int:
    parameters = {
        "job": job.job_id,
        "position": position,
        "states": states,
        "state": state,
        "code": code,
        "kind": code if code == "expired" else state,
        "outcome": "expired" if code == "expired" else "lost",
        "at": at,
        "limit": limit,
    }
    tx.exec_driver_sql(_LOCK, parameters)
    swept: int = tx.exec_driver_sql(_SWEEP, parameters).scalar_one()
    return swept
