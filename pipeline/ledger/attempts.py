"""Attempts and their calls: what was tried, by whom, and how each ended."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, LiteralString
from uuid import UUID

from pipeline.domain.results import Usage
from pipeline.ledger.connection import Statement, Transaction, together

#: How an attempt ends whose outcome counts.
SETTLED: Final = ["succeeded", "failed", "skipped", "requeued"]


@dataclass(frozen=True, slots=True)
class Call:
    """One request to a provider inside an attempt. `error_code` None: it gave what was asked. Unknown usage is None.

    `latency_seconds` None: it is under way, or its process died. `condition` is the provider's, finer than the code.
    """

    sequence: int
    step: str
    latency_seconds: float | None
    #: after the start of its attempt
    began_seconds: float
    chunk: int = 0
    covers: str | None = None
    error_code: str | None = None
    condition: str | None = None
    reserved_tokens: int | None = None
    reserved_usd: float | None = None
    input_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    request_id: str | None = None
    model: str | None = None
    service_tier: str | None = None
    system_fingerprint: str | None = None

    def usage(self, *, is_over: bool = False) -> Usage:
        """What it took. Unknown where it told nothing though it has ended, or its attempt `is_over`."""
        told = self.reserved_tokens is None or self.input_tokens is not None
        return Usage(
            input_tokens=self.input_tokens,
            cached_tokens=self.cached_tokens,
            output_tokens=self.output_tokens,
            cost_usd=self.cost_usd,
            unknown_calls=int(not told and (is_over or self.latency_seconds is not None)),
        )


@dataclass(frozen=True, slots=True)
class Attempt:
    """One claim of an item by a worker; `alone` on the one-slot queue, `charged` where it counts against the item."""

    attempt_id: UUID
    number: int
    worker: str
    started_at: datetime
    ended_at: datetime | None
    outcome: str | None
    error_code: str | None
    error_detail: str | None
    model: str | None
    alone: bool
    charged: bool
    calls: tuple[Call, ...] = ()

    @property
    def usage(self) -> Usage:
        """What its calls took; a call under way has told nothing yet, and is not unknown for that."""
        return Usage.total(call.usage(is_over=self.ended_at is not None) for call in self.calls)


_CALL_COLUMNS: LiteralString = """
       sequence, step, latency_seconds, began_seconds, chunk, covers, error_code, condition, reserved_tokens,
       reserved_usd, input_tokens, cached_tokens, output_tokens, cost_usd, request_id, model, service_tier,
       system_fingerprint"""

# A call that has ended stays as it is: what it took in place of its reservation is booked once.
_RECORD_CALLS = f"""
WITH recorded AS (
    INSERT INTO calls AS call (attempt_id, {_CALL_COLUMNS})
    SELECT %s, * FROM unnest(%s::int[], %s::text[], %s::float8[], %s::float8[], %s::int[], %s::text[], %s::text[],
                             %s::text[], %s::bigint[], %s::float8[], %s::bigint[], %s::bigint[], %s::bigint[],
                             %s::float8[], %s::text[], %s::text[], %s::text[], %s::text[])
    ON CONFLICT (attempt_id, sequence) DO UPDATE
       SET error_code = excluded.error_code, condition = excluded.condition, input_tokens = excluded.input_tokens,
           cached_tokens = excluded.cached_tokens, output_tokens = excluded.output_tokens,
           cost_usd = excluded.cost_usd, request_id = excluded.request_id, model = excluded.model,
           service_tier = excluded.service_tier, system_fingerprint = excluded.system_fingerprint,
           latency_seconds = excluded.latency_seconds
     WHERE call.latency_seconds IS NULL
    RETURNING call.*
)
UPDATE budgets
   SET tokens_taken = tokens_taken + difference.tokens, usd_taken = usd_taken + difference.usd
  FROM (SELECT sum(coalesce(input_tokens + output_tokens, reserved_tokens) - reserved_tokens) AS tokens,
               sum(coalesce(cost_usd, reserved_usd, 0) - coalesce(reserved_usd, 0)) AS usd
          FROM recorded WHERE reserved_tokens IS NOT NULL) AS difference
 WHERE job_id = (SELECT job_id FROM attempts WHERE attempt_id = %s) AND difference.tokens IS NOT NULL
"""


def record_calls(tx: Transaction, attempt_id: UUID, calls: Sequence[Call]) -> None:
    """Store an attempt's calls that have ended, in one statement; a job's budget is charged what they really took."""
    together(tx, recording(attempt_id, calls))


def recording(attempt_id: UUID, calls: Sequence[Call]) -> Statement:
    """The statement of `record_calls`."""
    columns = [[getattr(call, name) for call in calls] for name in Call.__slots__]
    return Statement(_RECORD_CALLS, (attempt_id, *columns, attempt_id))


_TRIES = """
SELECT count(*), coalesce(extract(epoch FROM clock_timestamp() - min(ended_at) FILTER (
         WHERE (ended_at < (SELECT closed_at FROM gates JOIN jobs USING (profile) WHERE jobs.job_id = %(job)s))
               IS NOT TRUE)), 0)::float8
  FROM attempts
 WHERE job_id = %(job)s AND position = %(position)s AND error_code = %(code)s AND charged >= %(charged)s
   AND number >= coalesce((
         SELECT max(number) FROM attempts JOIN calls USING (attempt_id)
          WHERE job_id = %(job)s AND position = %(position)s
            AND calls.error_code IS NULL AND latency_seconds IS NOT NULL), 0)
"""


def tries_so_far(tx: Transaction, job_id: UUID, position: int, error_code: str, *, charged: bool) -> tuple[int, float]:
    """How many attempts of the item ended with this code, and how many seconds ago the first of them did.

    Counted from the last attempt in which a call succeeded: a long document makes many calls, and has made way. What
    came before the provider's breaker last closed counts as a try, but not as time: the item waited for others.
    `charged`: those only that were charged; an open breaker excuses attempts with a code that is charged otherwise.
    """
    parameters = {"job": job_id, "position": position, "code": error_code, "charged": charged}
    row = tx.exec_driver_sql(_TRIES, parameters).one()
    return row[0], row[1]


def has_ended(tx: Transaction, attempt_id: UUID) -> bool:
    """Whether the attempt has settled, for a COMMIT whose answer was lost."""
    row = tx.exec_driver_sql(
        "SELECT outcome = ANY(%s) FROM attempts WHERE attempt_id = %s",
        (SETTLED, attempt_id),
    ).one_or_none()
    return bool(row is not None and row[0])


_HISTORY = """
SELECT attempt_id, number, worker, started_at, ended_at, outcome, error_code, error_detail, model, alone, charged
  FROM attempts
 WHERE position = %(position)s
   AND job_id = coalesce((SELECT ended.job_id FROM items JOIN attempts AS ended USING (attempt_id)
                           WHERE items.job_id = %(job)s AND items.position = %(position)s), %(job)s)
 ORDER BY number
"""

_CALLS = f"SELECT attempt_id, {_CALL_COLUMNS} FROM calls WHERE attempt_id = ANY(%s) ORDER BY sequence"


def history(tx: Transaction, job_id: UUID, position: int) -> list[Attempt]:
    """An item's attempts with their calls, in order; those of a carried item are of the job that worked on it."""
    rows = tx.exec_driver_sql(_HISTORY, {"job": job_id, "position": position}).all()
    calls: dict[UUID, list[Call]] = {row.attempt_id: [] for row in rows}
    for attempt_id, *call in tx.exec_driver_sql(_CALLS, (list(calls),)):
        calls[attempt_id].append(Call(*call))
    return [replace(Attempt(*row), calls=tuple(calls[row.attempt_id])) for row in rows]
