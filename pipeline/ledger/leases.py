"""Leases: an attempt's hold on its item, renewed by its process and never past the attempt's own wall clock.

They touch items alone, skipping rows that others have locked; an expired lease is suspicion, not an end.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from pipeline.ledger.connection import Transaction
from pipeline.ledger.items import Held

#: How many lost leases one look hands out.
BOUND = 100

_RENEW = """
UPDATE items
   SET lease_until = least(clock_timestamp() + %(lease)s * interval '1 second', attempt_until)
 WHERE (job_id, position) IN (
        SELECT job_id, position FROM items
         WHERE lane IS NOT NULL AND state = 'running' AND attempt_id = ANY(%(attempts)s)
           FOR UPDATE SKIP LOCKED)
"""


def renew(tx: Transaction, attempts: Sequence[UUID], lease: float) -> int:
    """Renew the leases of a process's attempts by one statement, never past an attempt's deadline. Returns how many."""
    return tx.exec_driver_sql(_RENEW, {"attempts": list(attempts), "lease": lease}).rowcount


_GRANT = """
UPDATE items
   SET lease_until = least(clock_timestamp() + %(lease)s * interval '1 second', attempt_until)
 WHERE (job_id, position) IN (
        SELECT job_id, position FROM items
         WHERE lane IS NOT NULL AND state = 'running'
           AND lease_until < clock_timestamp() + %(lease)s * interval '1 second'
           FOR UPDATE SKIP LOCKED)
"""


def grant(tx: Transaction, lease: float) -> int:
    """Give every running attempt a fresh lease: after a gap nobody could renew, so an expiry means nothing."""
    return tx.exec_driver_sql(_GRANT, {"lease": lease}).rowcount


@dataclass(frozen=True, slots=True)
class Lost(Held):
    """A running item whose lease ran out; `past_deadline` where that is the attempt's own wall clock."""

    past_deadline: bool


def lost(tx: Transaction) -> list[Lost]:
    """Running items whose lease ran out, oldest first."""
    rows = tx.exec_driver_sql(
        "SELECT job_id, position, attempt_id, attempt_count, charged, alone, losses_alone, "
        "attempt_until <= clock_timestamp() FROM items "
        f"WHERE lane IS NOT NULL AND state = 'running' AND lease_until < clock_timestamp() "
        f"ORDER BY lease_until LIMIT {BOUND}"
    )
    return [Lost(*row) for row in rows]
