r"""The job's own arrows, and the lock that every transaction on a job takes first.

accepted --admit--> running --complete--> completed
    \___________cancel____________> cancelled

An edit changes lanes and deadline of an unfinished job and leaves its state.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from pipeline.domain.results import JobState
from pipeline.errors import NotFound, StaleArrow
from pipeline.ledger.connection import Statement, Transaction, together


@dataclass(frozen=True, slots=True)
class LockedJob:
    """The job row under its lock. `now` is the database's clock, read after the lock was had."""

    job_id: UUID
    state: JobState
    now: datetime
    created_at: datetime
    expires_at: datetime
    profile: str
    require: Literal["any", "all"]
    concurrency: int
    max_attempts: int
    next_position: int
    total: int
    pending: int
    running: int

    @property
    def expired(self) -> bool:
        """Whether the deadline has come."""
        return self.now >= self.expires_at


# The CTE is materialised because of its row lock, so the clock is read after the lock was had.
_LOCK = """
WITH job AS MATERIALIZED (
    SELECT job_id, state, created_at, expires_at, profile, require, concurrency, max_attempts, next_position, total,
           pending, running
      FROM jobs
     WHERE job_id = %(job)s
       FOR NO KEY UPDATE
)
SELECT job_id, state, clock_timestamp() AS now, created_at, expires_at, profile, require, concurrency, max_attempts,
       next_position, total, pending, running
  FROM job
"""


def lock(tx: Transaction, job_id: UUID) -> LockedJob:
    """Lock the job row before anything else of the job is changed. Raises NotFound."""
    [rows] = together(tx, Statement(_LOCK, {"job": job_id}))
    if not rows:
        raise NotFound("job", str(job_id))
    return LockedJob(*rows[0])


# What every change of a job's state leaves, in the statement that makes it: its event and its notification. Those that
# nobody is told of are born delivered.
_LEAVE = """
notified AS (
    INSERT INTO notifications (job_id, version, state, at, available_at, delivered_at)
    SELECT job_id, version, state, %(now)s, %(now)s, CASE WHEN state IN ('accepted', 'running') THEN %(now)s END
      FROM changed
)
INSERT INTO events (job_id, version, kind, at)
SELECT job_id, version, CASE state WHEN 'running' THEN 'admitted' ELSE state END, %(now)s FROM changed
"""

_ACCEPT = f"""
WITH changed AS (
    SELECT job_id, version, state FROM jobs WHERE job_id = %(job)s AND state = 'accepted'
), {_LEAVE}"""


def accept(tx: Transaction, job_id: UUID, now: datetime) -> None:
    """Announce the job whose row was stored in this transaction."""
    _one(tx.exec_driver_sql(_ACCEPT, {"job": job_id, "now": now}).rowcount, "accept", "not there")


_ADMIT = f"""
WITH changed AS (
    UPDATE jobs SET state = 'running', version = version + 1, admitted_at = %(now)s, nudged_at = NULL, nudges = 0
     WHERE job_id = %(job)s AND state = 'accepted'
    RETURNING job_id, version, state
), {_LEAVE}"""


def admit(tx: Transaction, job: LockedJob) -> None:
    """accepted -> running. Raises StaleArrow where it was admitted or cancelled before."""
    _one(tx.exec_driver_sql(_ADMIT, {"job": job.job_id, "now": job.now}).rowcount, "admit", job.state)


_COMPLETE = f"""
WITH changed AS (
    UPDATE jobs
       SET state = 'completed', version = version + 1, reduce_id = %(reduce)s, ended_at = %(now)s,
           merged_rows = %(merged)s,
           nudged_at = NULL, nudges = 0
     WHERE job_id = %(job)s AND state = 'running' AND pending = 0 AND running = 0
       AND total = (SELECT count(*) FROM items WHERE job_id = %(job)s AND state IN ('succeeded', 'failed', 'skipped'))
       AND %(merged)s = (SELECT count(*) FROM merged_actions WHERE job_id = %(job)s AND reduce_id = %(reduce)s)
       AND %(rows)s = (SELECT count(*) FROM row_actions WHERE job_id = %(job)s AND reduce_id = %(reduce)s)
    RETURNING job_id, version, state
), {_LEAVE}"""


def complete(tx: Transaction, job: LockedJob, reduce_id: UUID, merged: int, rows: int) -> None:
    """running -> completed with what was written under `reduce_id`: `merged` actions, and `rows` of documents.

    It counts items and written rows itself: a reducer that lost its lock may have been swept by another. Raises
    StaleArrow.
    """
    parameters = {"job": job.job_id, "reduce": reduce_id, "now": job.now, "merged": merged, "rows": rows}
    done = tx.exec_driver_sql(_COMPLETE, parameters).rowcount
    _one(done, "complete", f"{job.state}, {job.pending + job.running} open, or its merged rows are not all there")


_CANCEL = f"""
WITH changed AS (
    UPDATE jobs SET state = 'cancelled', version = version + 1, ended_at = %(now)s, nudged_at = NULL, nudges = 0
     WHERE job_id = %(job)s AND state IN ('accepted', 'running')
    RETURNING job_id, version, state
), {_LEAVE}"""


def cancel(tx: Transaction, job: LockedJob) -> None:
    """accepted | running -> cancelled; the items are swept afterwards. Raises StaleArrow."""
    _one(tx.exec_driver_sql(_CANCEL, {"job": job.job_id, "now": job.now}).rowcount, "cancel", job.state)


_EDIT = """
WITH edited AS (
    UPDATE jobs
       SET version = version + 1, concurrency = %(concurrency)s, expires_at = %(expires_at)s
     WHERE job_id = %(job)s AND state IN ('accepted', 'running') AND expires_at > %(now)s
    RETURNING job_id, version
)
INSERT INTO events (job_id, version, kind, at, detail)
SELECT job_id, version, 'edited', %(now)s, %(detail)s FROM edited
"""


def edit(tx: Transaction, job: LockedJob, concurrency: int, expires_at: datetime, detail: str) -> None:
    """Change an unfinished job's lanes and deadline; `detail` says of the event what was and what is, JSON text.

    Lanes above the new number end with the document that they hold. Raises StaleArrow.
    """
    parameters = {
        "job": job.job_id,
        "now": job.now,
        "concurrency": concurrency,
        "expires_at": expires_at,
        "detail": detail,
    }
    state = "past its deadline" if job.expired else job.state
    _one(tx.exec_driver_sql(_EDIT, parameters).rowcount, "edit", state)


def _one(rows: int, arrow: str, reason: str) -> None:
    if rows != 1:
        raise StaleArrow(arrow, f"the job is {reason}")
