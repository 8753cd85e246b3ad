"""What reconcile looks for. Each query is bounded and marks what it hands out, so that two reconcilers share the work.

A job's next hop (admit, reduce, freeze, deliver) is nudged: seen first, then asked for again with doubling backoff. The
message that its own flow sends usually makes that needless; a delivery has no other.
"""

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from pipeline.ledger import gates
from pipeline.ledger.connection import Transaction
from pipeline.ledger.releases import Released

BOUND = 100


def hold_lock(tx: Transaction) -> bool:
    """Take the reconciler's session lock; False where another process holds it. It ends with the connection."""
    got: bool = tx.exec_driver_sql("SELECT pg_try_advisory_lock(hashtextextended('reconcile', 0))").scalar_one()
    return got


def is_silent(tx: Transaction, worker: str, seconds: float) -> bool:
    """Whether nobody but `worker` has ticked for so long, or ever, though somebody may hold the lock.

    Its own ticks do not count: it stands in at the usual pace, for ticks that are half a lease apart would take each
    other for a gap and grant every lost lease anew.
    """
    silent: bool = tx.exec_driver_sql(
        "SELECT NOT EXISTS (SELECT 1 FROM reconciler WHERE worker <> %s "
        "AND last_tick > clock_timestamp() - %s * interval '1 second')",
        (worker, seconds),
    ).scalar_one()
    return silent


# A process that is stopped, not killed, keeps its connections and their locks. PostgreSQL's own timeout for idle
# transactions does not count between two statements that are sent together. Only transactions that have changed or
# locked a row have an id; a COPY waits for its client by design.
_FREE_LOCKS = """
SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
 WHERE datname = current_database() AND usename = current_user
   AND backend_xid IS NOT NULL AND wait_event = 'ClientRead' AND query NOT LIKE 'COPY%%'
   AND state_change < clock_timestamp() - %(lease)s * interval '1 second'
"""


def free_locks(tx: Transaction, lease: float) -> int:
    """End the sessions that hold rows and of which nothing was heard for a lease; returns how many."""
    freed: int = tx.exec_driver_sql(_FREE_LOCKS, {"lease": lease}).scalar_one()
    return freed


def record_tick(tx: Transaction, worker: str) -> float:
    """Stamp this tick; returns the seconds since the one before (0 for the first ever)."""
    gap: float = tx.exec_driver_sql(
        "INSERT INTO reconciler (one, last_tick, worker) VALUES (1, clock_timestamp(), %(worker)s) "
        "ON CONFLICT (one) DO UPDATE SET last_tick = excluded.last_tick, worker = excluded.worker "
        "RETURNING extract(epoch FROM last_tick - coalesce((SELECT last_tick FROM reconciler), last_tick))::float8",
        {"worker": worker},
    ).scalar_one()
    return gap


Hop = Literal["admit", "reduce", "freeze", "deliver"]

_DUE_HOPS: dict[Hop, str] = {
    "admit": "frozen_at IS NULL AND state = 'accepted'",
    "reduce": "frozen_at IS NULL AND state = 'running' AND pending + running = 0",
    "freeze": "frozen_at IS NULL AND (state = 'completed' OR state = 'cancelled' AND pending + running = 0)",
    "deliver": "frozen_at IS NOT NULL AND deliver_to IS NOT NULL AND delivered_at IS NULL",
}

_NUDGE = """
WITH due AS (
    SELECT job_id, nudged_at IS NULL AS first_seen FROM jobs
     WHERE {condition}
       AND (nudged_at IS NULL
            OR nudged_at < clock_timestamp()
                           - least(%(grace)s * power(2, least(nudges, 20)), %(longest)s) * interval '1 second')
     ORDER BY created_at LIMIT {bound} FOR NO KEY UPDATE SKIP LOCKED
), nudged AS (
    UPDATE jobs SET nudged_at = clock_timestamp(), nudges = nudges + (NOT first_seen)::int
      FROM due WHERE jobs.job_id = due.job_id
    RETURNING jobs.job_id, first_seen
)
SELECT job_id FROM nudged WHERE NOT first_seen
"""


def nudge(tx: Transaction, hop: Hop, lease: float) -> list[UUID]:
    """Jobs whose next hop is overdue. First seen, they get a twelfth of a lease; then doubling, at most 15 leases."""
    statement = _NUDGE.format(condition=_DUE_HOPS[hop], bound=BOUND)
    return list(tx.exec_driver_sql(statement, {"grace": lease / 12, "longest": lease * 15}).scalars())


# What a queue was given later has started, a while ago: it has moved past this message, which is lost. Otherwise the
# message may only be waiting, for a worker or behind others, and thousands may wait with it; so one of them is sent
# once more, with doubling backoff from one lease to fifteen. It is the one that was sent last: where the others are
# there, it starts after them all, and where they are lost, its start shows it.
_UNSTARTED = """
WITH starts AS (
    (SELECT alone, published_at, position FROM attempts
      WHERE started_at < clock_timestamp() - %(grace)s * interval '1 second' ORDER BY started_at DESC LIMIT {bound})
    UNION ALL
    (SELECT alone, published_at, position FROM attempts
      WHERE started_at < clock_timestamp() - %(grace)s * interval '1 second' AND alone
      ORDER BY started_at DESC LIMIT {bound})
), passed AS (
    SELECT DISTINCT ON (alone) alone, published_at, position
      FROM starts ORDER BY alone, published_at DESC, position DESC
), waiting AS (
    SELECT job_id, position,
           row_number() OVER (PARTITION BY alone ORDER BY published_at DESC, position DESC) = 1 AS sent_last
      FROM items WHERE lane IS NOT NULL AND state = 'released'
), overdue AS (
    SELECT items.job_id, items.position
      FROM items JOIN waiting USING (job_id, position) LEFT JOIN passed ON passed.alone = items.alone
     WHERE items.lane IS NOT NULL AND items.state = 'released'
       AND ((items.published_at, items.position) < (passed.published_at, passed.position)
            OR sent_last AND items.published_at < clock_timestamp()
               - least(%(lease)s * power(2, least(publishes - 1, 20)), %(longest)s) * interval '1 second')
     ORDER BY items.published_at, items.position LIMIT {bound} FOR UPDATE OF items SKIP LOCKED
)
UPDATE items SET published_at = clock_timestamp(), publishes = least(publishes + 1, 100)
  FROM overdue WHERE items.job_id = overdue.job_id AND items.position = overdue.position
RETURNING items.job_id, items.position, items.dispatch_id, items.alone
"""


def unstarted(tx: Transaction, lease: float) -> list[Released]:
    """Released items whose message seems lost; to be published again under the same dispatch."""
    parameters = {"lease": lease, "grace": lease / 12, "longest": lease * 15}
    return [Released(*row) for row in tx.exec_driver_sql(_UNSTARTED.format(bound=BOUND), parameters)]


# A free lane, and a document that waits for nothing but its turn.
_HAS_MORE = """
       frozen_at IS NULL AND state = 'running' AND pending > 0 AND running < concurrency
       AND expires_at > clock_timestamp()
       AND (EXISTS (SELECT 1 FROM items WHERE items.job_id = jobs.job_id AND available_at <= clock_timestamp())
            OR EXISTS (SELECT 1 FROM items WHERE items.job_id = jobs.job_id AND position >= next_position
                          AND items.state = 'pending' AND available_at IS NULL))"""

_OPENABLE = f"""
SELECT job_id FROM jobs
 WHERE {_HAS_MORE}
   AND NOT {gates.shut("jobs.profile", "clock_timestamp()")}
 ORDER BY created_at LIMIT {BOUND}
"""


def openable(tx: Transaction) -> list[UUID]:
    """Running jobs with a free lane and a document that may be released now."""
    return list(tx.exec_driver_sql(_OPENABLE).scalars())


@dataclass(frozen=True, slots=True)
class DueProbe:
    """An open breaker that may be tried, by one document of its profile's oldest job that has one."""

    profile: str
    probes: int
    job_id: UUID


_PROBES = f"""
SELECT profile, probes, job_id
  FROM gates, LATERAL (
       SELECT job_id
         FROM (SELECT job_id, row_number() OVER (ORDER BY created_at, job_id) - 1 AS n, count(*) OVER () AS number
                 FROM jobs WHERE jobs.profile = gates.profile AND {_HAS_MORE}) AS with_more
        WHERE n = mod(probes, number)) AS turn
 WHERE probe_at <= clock_timestamp() AND (paused_until > clock_timestamp()) IS NOT TRUE
 ORDER BY probe_at LIMIT {BOUND}
"""


def probes(tx: Transaction) -> list[DueProbe]:
    """Open breakers whose next probe is due, each with a job to take it from: they take turns, the oldest first.

    A document on which the provider breaks each time must not be every probe.
    """
    return [DueProbe(*row) for row in tx.exec_driver_sql(_PROBES)]


_EXPIRED = """
SELECT job_id FROM jobs
 WHERE frozen_at IS NULL AND pending + running > 0 AND expires_at <= clock_timestamp()
 ORDER BY expires_at LIMIT {bound}
"""


def expired(tx: Transaction) -> list[UUID]:
    """Jobs past their deadline with open items."""
    return list(tx.exec_driver_sql(_EXPIRED.format(bound=BOUND)).scalars())


_UNDRAINED = """
SELECT job_id FROM jobs
 WHERE frozen_at IS NULL AND state = 'cancelled' AND pending + running > 0
   AND (pending > 0 OR EXISTS (
        SELECT 1 FROM items WHERE items.job_id = jobs.job_id AND lane IS NOT NULL AND items.state = 'released'))
 ORDER BY created_at LIMIT {bound}
"""


def undrained(tx: Transaction) -> list[UUID]:
    """Cancelled jobs whose sweep was interrupted."""
    return list(tx.exec_driver_sql(_UNDRAINED.format(bound=BOUND)).scalars())
