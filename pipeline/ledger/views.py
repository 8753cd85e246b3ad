"""What operators read: jobs, their documents, why a job waits. Reads only; nothing here locks."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row

from pipeline.domain.gate import STARTS_WITHIN
from pipeline.domain.results import Counts, ItemState, JobView, Usage
from pipeline.domain.text import is_storable
from pipeline.errors import InvalidRequest, NotFound
from pipeline.ledger import costs
from pipeline.ledger.connection import Transaction

_JOB_VIEW = f"""
SELECT job_id::text, idempotency_key, state, version, created_at, expires_at, concurrency, total, pending, running,
       succeeded, failed, skipped, options, same_content_as::text, input_tokens, cached_tokens, output_tokens, cost_usd,
       unknown_calls, predecessor::text,
       (SELECT later.job_id::text FROM jobs AS later
         WHERE later.root_job_id = jobs.root_job_id AND later.export_version = jobs.export_version + 1) AS successor
  FROM jobs
  LEFT JOIN LATERAL ({costs.USED}) AS used ON true
"""


def job(tx: Transaction, job_id: UUID, lease: float) -> JobView:
    """One job, with why it waits where that can be told. Raises NotFound."""
    row = tx.exec_driver_sql(_JOB_VIEW + " WHERE job_id = %s", (job_id,)).one_or_none()
    if row is None:
        raise NotFound("job", str(job_id))
    return _view(row, waiting_for(tx, job_id, lease))


def jobs(tx: Transaction, limit: int) -> list[JobView]:
    """The newest jobs first."""
    rows = tx.exec_driver_sql(_JOB_VIEW + " ORDER BY created_at DESC, job_id LIMIT %s", (limit,))
    return [_view(row, None) for row in rows]


def _view(row: Row[Any], waiting: str | None) -> JobView:
    counts = Counts(
        total=row.total,
        pending=row.pending,
        running=row.running,
        succeeded=row.succeeded,
        failed=row.failed,
        skipped=row.skipped,
    )
    return JobView(
        job_id=row.job_id,
        idempotency_key=row.idempotency_key,
        state=row.state,
        version=row.version,
        created_at=row.created_at,
        expires_at=row.expires_at,
        concurrency=row.concurrency,
        counts=counts,
        options=json.loads(row.options),
        usage=Usage(
            input_tokens=row.input_tokens,
            cached_tokens=row.cached_tokens,
            output_tokens=row.output_tokens,
            cost_usd=row.cost_usd,
            unknown_calls=row.unknown_calls,
        ),
        waiting_for=waiting,
        same_content_as=row.same_content_as,
        predecessor=row.predecessor,
        successor=row.successor,
    )


_FIND = """
SELECT job_id, CASE WHEN job_id::text = lower(%(name)s) THEN 0 WHEN idempotency_key = %(name)s THEN 1 ELSE 2 END AS rank
  FROM jobs
 WHERE idempotency_key = %(name)s OR length(%(name)s) >= 6 AND starts_with(job_id::text, lower(%(name)s))
 ORDER BY rank
 LIMIT 2
"""


def find_job(tx: Transaction, name: str) -> UUID:
    """A job by its id, else its key, else the first characters of its id (six or more).

    Raises NotFound, InvalidRequest where a beginning names several.
    """
    found = tx.exec_driver_sql(_FIND, {"name": name}).all() if is_storable(name) else []
    if not found:
        raise NotFound("job", name)
    if len(found) > 1 and found[0].rank == found[1].rank:
        raise InvalidRequest(f"{name!r} names several jobs: give more of the id")
    job_id: UUID = found[0].job_id
    return job_id


_WAITING = f"""
SELECT jobs.state, jobs.pending, jobs.running, jobs.expires_at, clock_timestamp() AS now, jobs.profile,
       paused_until, gates.error_code, opened_at, opened_for, probe_at,
       greatest(requests_due, tokens_due) - interval '{STARTS_WITHIN} seconds' AS rate_due, jobs.frozen_at, jobs.nudges,
       (SELECT min(available_at) FROM items WHERE items.job_id = jobs.job_id) AS next_due,
       (SELECT count(*) FROM items WHERE items.job_id = jobs.job_id AND lane IS NOT NULL AND items.state = 'running')
         AS started,
       (SELECT min(released_at) FROM items
         WHERE items.job_id = jobs.job_id AND lane IS NOT NULL AND items.state = 'released') AS oldest_release,
       (SELECT max(last_tick) FROM reconciler) AS last_tick
  FROM jobs LEFT JOIN gates ON gates.profile = jobs.profile
 WHERE job_id = %s
"""


def waiting_for(tx: Transaction, job_id: UUID, lease: float) -> str | None:
    """Why nothing moves, as one clause; None while something does or nothing is left to do."""
    row = tx.exec_driver_sql(_WAITING, (job_id,)).one()
    if row.frozen_at is not None or row.started:
        return None
    no_worker = row.last_tick is None or (row.now - row.last_tick).total_seconds() > lease / 2
    if row.now >= row.expires_at and row.pending + row.running:
        return "the deadline has passed; reconcile closes the open documents"
    if no_worker:
        return "no worker: start one with `callfold up`"
    if row.state == "running" and row.pending + row.running and (gate := _gate(row)):
        return gate
    if row.oldest_release is not None and (row.now - row.oldest_release).total_seconds() > lease / 4:
        return "its messages wait in the queue: workers are busy or gone"
    if row.state == "running" and row.next_due is not None and not row.running and row.next_due > row.now:
        return f"the next retry is due at {_clock(row.next_due)}"
    if row.state == "accepted":
        return "its admission"
    if row.state == "running" and not row.pending + row.running:
        return "the reducer" + (f" (asked for {row.nudges} times)" if row.nudges else "")
    if row.state in {"completed", "cancelled"} and not row.pending + row.running:
        return "its export" + (f" (asked for {row.nudges} times)" if row.nudges else "")
    return None


def _gate(row: Row[Any]) -> str | None:
    if row.opened_at is not None:
        return (
            f"the provider: its breaker is open since {_clock(row.opened_at)} ({row.opened_for}), the next probe is "
            f"due at {_clock(row.probe_at)}; mended, `callfold resume {row.profile}`"
        )
    if row.paused_until is not None and row.paused_until > row.now:
        return f"the provider: its gate is paused until {_clock(row.paused_until)} ({row.error_code})"
    if row.rate_due is not None and row.rate_due > row.now:
        return f"the provider: its declared rate is used up until {_clock(row.rate_due)}"
    return None


def _clock(moment: datetime) -> str:
    return moment.strftime("%H:%M:%S UTC")


@dataclass(frozen=True, slots=True)
class Pace:
    """Documents per second over the last minute of work, and what is open."""

    per_second: float
    open_items: int

    @property
    def eta_seconds(self) -> float | None:
        """None where nothing moves."""
        return self.open_items / self.per_second if self.per_second > 0 else None


_PACE = """
SELECT count(*) AS settled,
       extract(epoch FROM clock_timestamp() - min(finished_at))::float8 AS seconds,
       (SELECT pending + running FROM jobs WHERE job_id = %(job)s) AS open_items
  FROM items
 WHERE job_id = %(job)s AND attempt_count > 0 AND NOT carried
   AND finished_at > clock_timestamp() - interval '60 seconds'
"""


def pace(tx: Transaction, job_id: UUID) -> Pace:
    """How fast the job goes now."""
    row = tx.exec_driver_sql(_PACE, {"job": job_id}).one()
    return Pace(row.settled / max(row.seconds, 1.0) if row.settled else 0.0, row.open_items)


@dataclass(frozen=True, slots=True)
class ItemResult:
    """One document of a job and what became of it, so far; a result's fields are None until it succeeded."""

    position: int
    document_id: str
    account_id: str
    state: ItemState
    attempt_count: int
    attempt_id: UUID | None
    error_code: str | None
    error_detail: str | None
    available_at: datetime | None
    warnings: str
    summary: str | None
    actions: str | None
    #: percent, of the attempt that runs now or the one that succeeded
    progress: int


_ITEMS = """
SELECT items.position, document_id, account_id, state, attempt_count, items.attempt_id, items.error_code,
       items.error_detail, available_at, items.warnings,
       CASE WHEN state = 'succeeded' THEN summary END, CASE WHEN state = 'succeeded' THEN actions END, progress
  FROM items LEFT JOIN attempts USING (attempt_id)
 WHERE items.job_id = %(job)s
"""


def items(tx: Transaction, job_id: UUID, first: int, limit: int) -> list[ItemResult]:
    """A job's documents from position `first` on."""
    statement = _ITEMS + " AND items.position >= %(first)s ORDER BY items.position LIMIT %(limit)s"
    rows = tx.exec_driver_sql(statement, {"job": job_id, "first": first, "limit": limit})
    return [ItemResult(*row) for row in rows]


def item(tx: Transaction, job_id: UUID, document_id: str) -> ItemResult:
    """One document by the caller's id. Raises NotFound."""
    asked = {"job": job_id, "id": document_id}
    rows = tx.exec_driver_sql(_ITEMS + " AND document_id = %(id)s", asked).all() if is_storable(document_id) else ()
    if not rows:
        raise NotFound("document", document_id)
    return ItemResult(*rows[0])


def outcomes(tx: Transaction, job_id: UUID) -> dict[str, int]:
    """How many documents ended with which error code."""
    rows = tx.exec_driver_sql(
        "SELECT error_code, count(*) AS n FROM items WHERE job_id = %s AND error_code IS NOT NULL "
        "GROUP BY error_code ORDER BY error_code",
        (job_id,),
    )
    return {row.error_code: row.n for row in rows}


@dataclass(frozen=True, slots=True)
class LedgerHealth:
    """What `doctor` says of the ledger.

    `stuck` are jobs whose reducer, exporter or delivery was asked for again and again, `untold` those whose end nobody
    could be told of, each with the number of tries.
    """

    server_version: str
    tick_age_seconds: float | None
    tick_worker: str | None
    open_jobs: int
    stuck: list[tuple[str, str, int]]
    untold: list[tuple[str, int]]


def health(tx: Transaction) -> LedgerHealth:
    """One look at the whole ledger."""
    version = tx.exec_driver_sql("SHOW server_version").scalar_one()
    tick = tx.exec_driver_sql(
        "SELECT extract(epoch FROM clock_timestamp() - last_tick)::float8 AS age, worker FROM reconciler"
    ).one_or_none()
    open_jobs = tx.exec_driver_sql("SELECT count(*) FROM jobs WHERE frozen_at IS NULL").scalar_one()
    stuck = tx.exec_driver_sql(
        "SELECT job_id::text, CASE WHEN frozen_at IS NULL THEN state ELSE 'frozen' END AS state, nudges FROM jobs "
        "WHERE (frozen_at IS NULL OR deliver_to IS NOT NULL AND delivered_at IS NULL) AND nudges > 2 "
        "ORDER BY nudges DESC LIMIT 20"
    )
    untold = tx.exec_driver_sql(
        "SELECT job_id::text, tries FROM notifications JOIN jobs USING (job_id) "
        "WHERE notifications.delivered_at IS NULL AND frozen_at IS NOT NULL "
        "AND (tries > 2 OR frozen_at < clock_timestamp() - interval '15 minutes') ORDER BY tries DESC LIMIT 20"
    )
    return LedgerHealth(
        server_version=version,
        tick_age_seconds=tick.age if tick else None,
        tick_worker=tick.worker if tick else None,
        open_jobs=open_jobs,
        stuck=[(row.job_id, row.state, row.nudges) for row in stuck],
        untold=[(row.job_id, row.tries) for row in untold],
    )
