"""Releases: a document is given one of its job's lanes, 0 to K-1, and a dispatch; its message follows the commit.

    pending --release--> released

First releases follow the job's next position, retries a small index on the time that they wait for.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from pipeline.ledger import gates
from pipeline.ledger.connection import Statement, Transaction, together
from pipeline.ledger.jobs import LockedJob


@dataclass(frozen=True, slots=True)
class Released:
    """A document that was given a lane: what its message says, and by `alone` where that is sent."""

    job_id: UUID
    position: int
    dispatch_id: UUID
    alone: bool = False


_FREE_LANES = """
SELECT lane
  FROM generate_series(0, %(concurrency)s - 1) AS lane
 WHERE NOT EXISTS (SELECT 1 FROM items WHERE items.job_id = %(job)s AND items.lane = lane.lane)
 ORDER BY lane
 LIMIT %(wanted)s
"""


def free_lanes(tx: Transaction, job: LockedJob, wanted: int) -> list[int]:
    """The lowest free lanes below the job's concurrency."""
    parameters = {"job": job.job_id, "concurrency": job.concurrency, "wanted": wanted}
    return list(tx.exec_driver_sql(_FREE_LANES, parameters).scalars())


# Retries that are due go first, then documents that never had a turn. A shut gate or a reached deadline releases
# nothing; the dispatch of a probe that its gate knows already is let through.
_RELEASE = f"""
WITH open_gate AS (
    SELECT 1 WHERE NOT {gates.shut("%(profile)s", "%(now)s::timestamptz", probes="%(dispatches)s::uuid[]")}
), due AS (
    SELECT position, available_at FROM items, open_gate
     WHERE job_id = %(job)s AND available_at <= %(now)s
     ORDER BY available_at, position LIMIT %(wanted)s
), fresh AS (
    SELECT position FROM items, open_gate
     WHERE job_id = %(job)s AND position >= %(next_position)s AND state = 'pending' AND available_at IS NULL
     ORDER BY position LIMIT %(wanted)s - (SELECT count(*) FROM due)
), chosen AS (
    SELECT position, row_number() OVER () AS n
      FROM (SELECT position FROM due UNION ALL SELECT position FROM fresh) AS both_kinds
), free AS (
    SELECT lane, row_number() OVER () AS n
      FROM unnest(%(lanes)s::int[]) AS lane
     WHERE NOT EXISTS (SELECT 1 FROM items WHERE items.job_id = %(job)s AND items.lane = lane.lane)
), released AS (
    UPDATE items
       SET state = 'released', version = version + 1, available_at = NULL,
           lane = free.lane, dispatch_id = (%(dispatches)s::uuid[])[n],
           released_at = %(now)s, published_at = %(now)s, publishes = 1
      FROM chosen JOIN free USING (n)
     WHERE items.job_id = %(job)s AND items.position = chosen.position AND items.state = 'pending'
    RETURNING items.job_id, items.position, items.dispatch_id, items.alone
), counted AS (
    UPDATE jobs
       SET pending = pending - n, running = running + n, nudged_at = NULL, nudges = 0,
           next_position = greatest(next_position, (SELECT max(position) + 1 FROM fresh JOIN released USING (position)))
      FROM (SELECT count(*) AS n FROM released) AS released_rows
     WHERE job_id = %(job)s AND state = 'running' AND n > 0
    RETURNING job_id
)
SELECT job_id, position, dispatch_id, alone FROM released ORDER BY position
"""


def release(tx: Transaction, job: LockedJob, lanes: Sequence[int], dispatches: Sequence[UUID]) -> list[Released]:
    """pending -> released for up to `len(lanes)` documents; fewer, or none, where nothing may go or a lane is taken.

    Raises no version: it is one transition with the admit, the settle or the opening of a lane (`announce`).
    """
    [rows] = together(tx, releasing(job, lanes, dispatches))
    return [Released(*row) for row in rows]


def releasing(job: LockedJob, lanes: Sequence[int], dispatches: Sequence[UUID]) -> Statement:
    """The statement of `release`, to be sent together with others."""
    if job.state != "running" or job.expired:
        lanes = ()
    parameters = {
        "job": job.job_id,
        "profile": job.profile,
        "now": job.now,
        "wanted": len(lanes),
        "next_position": job.next_position,
        "lanes": list(lanes),
        "dispatches": list(dispatches),
    }
    return Statement(_RELEASE, parameters)


_RELEASED_AS = """
SELECT job_id, position, dispatch_id, alone FROM items
 WHERE job_id = %(job)s AND lane IS NOT NULL AND state = 'released' AND dispatch_id = %(dispatch)s
"""


def released_as(tx: Transaction, job_id: UUID, dispatch_id: UUID) -> Released | None:
    """The document that was released under this dispatch and has not started: for a COMMIT whose answer was lost."""
    row = tx.exec_driver_sql(_RELEASED_AS, {"job": job_id, "dispatch": dispatch_id}).one_or_none()
    return Released(*row) if row is not None else None


_ANNOUNCE = """
WITH counted AS (
    UPDATE jobs SET version = version + %(n)s WHERE job_id = %(job)s RETURNING version - %(n)s AS before
)
INSERT INTO events (job_id, version, kind, position, at)
SELECT %(job)s, before + n, 'released', position, %(now)s
  FROM counted, unnest(%(positions)s::int[]) WITH ORDINALITY AS released(position, n)
"""


def announce(tx: Transaction, job: LockedJob, released: Sequence[Released]) -> None:
    """One version and event per document that was released without a settle (reconcile opens lanes so)."""
    if released:
        positions = [one.position for one in released]
        parameters = {"job": job.job_id, "n": len(positions), "positions": positions, "now": job.now}
        tx.exec_driver_sql(_ANNOUNCE, parameters)
