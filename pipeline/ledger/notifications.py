"""Notifications: one per change of a job's state, born in the statement that makes the change (`jobs.py`).

    waiting --claim (a try)--> waiting, later --settle--> delivered

Only the ends of a job, completed and cancelled, have somebody to tell; the others are born delivered. A try is counted
before it is made, so a consumer that was killed in it is told again, and a message of an older try is refused.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from pipeline.domain.results import JobState
from pipeline.errors import StaleArrow
from pipeline.ledger.connection import Transaction

BOUND = 100


@dataclass(frozen=True, slots=True)
class Notification:
    """A change of a job's state that somebody is still to be told of; `tries` is how often that was begun."""

    job_id: UUID
    version: int
    state: JobState
    at: datetime
    tries: int


# In this order, so that a later change of a job is never told before an earlier one.
_WAITING = """
SELECT job_id, version, state, at, tries FROM notifications
 WHERE job_id = %s AND delivered_at IS NULL
 ORDER BY version
"""


def waiting(tx: Transaction, job_id: UUID) -> list[Notification]:
    """The job's notifications that are not delivered, oldest first."""
    return [Notification(*row) for row in tx.exec_driver_sql(_WAITING, (job_id,))]


_CLAIM = """
UPDATE notifications
   SET tries = tries + 1,
       available_at = clock_timestamp()
                      + least(%(grace)s * power(2, least(tries, 20)), %(longest)s) * interval '1 second'
 WHERE job_id = %(job)s AND version = %(version)s AND tries = %(tries)s AND delivered_at IS NULL
"""


def claim(tx: Transaction, notification: Notification, lease: float) -> None:
    """Count a try; the next is due after a twelfth of a lease, then doubling, at most 15 leases. Raises StaleArrow."""
    parameters = _fence(notification) | {"grace": lease / 12, "longest": lease * 15}
    _one(tx.exec_driver_sql(_CLAIM, parameters).rowcount, "claim")


_SETTLE = """
UPDATE notifications SET delivered_at = clock_timestamp()
 WHERE job_id = %(job)s AND version = %(version)s AND tries = %(tries)s + 1 AND delivered_at IS NULL
"""


def settle(tx: Transaction, notification: Notification) -> None:
    """Say that the try which was claimed has told it. Raises StaleArrow where a later try has begun."""
    _one(tx.exec_driver_sql(_SETTLE, _fence(notification)).rowcount, "settle")


def _fence(notification: Notification) -> dict[str, object]:
    return {"job": notification.job_id, "version": notification.version, "tries": notification.tries}


def _one(rows: int, arrow: str) -> None:
    if rows != 1:
        raise StaleArrow(arrow, "the notification is delivered, or another try has begun")


# What is handed out comes again after as long as it has waited already, one lease to fifteen: its message may be lost.
_DUE = """
WITH due AS (
    SELECT job_id, version FROM notifications
     WHERE delivered_at IS NULL AND available_at <= clock_timestamp()
       AND EXISTS (SELECT 1 FROM jobs WHERE jobs.job_id = notifications.job_id AND frozen_at IS NOT NULL)
     ORDER BY available_at LIMIT {bound} FOR UPDATE SKIP LOCKED
), handed_out AS (
    UPDATE notifications
       SET available_at = clock_timestamp() + least(greatest(clock_timestamp() - at, %(lease)s * interval '1 second'),
                                                    %(longest)s * interval '1 second')
      FROM due WHERE notifications.job_id = due.job_id AND notifications.version = due.version
    RETURNING notifications.job_id, notifications.version, tries
)
SELECT DISTINCT ON (job_id) job_id, tries FROM handed_out ORDER BY job_id, version
"""


def due(tx: Transaction, lease: float) -> list[tuple[UUID, int]]:
    """Frozen jobs with a notification that is due, each with the number of its tries so far."""
    found = tx.exec_driver_sql(_DUE.format(bound=BOUND), {"lease": lease, "longest": lease * 15})
    return [(row.job_id, row.tries) for row in found]
