"""What a job may spend. A call that costs is written, and its demand taken from the budget, before it is sent.

What it really took replaces its demand when it ends (`attempts.recording`). A call that never ends, or tells no usage,
keeps what it took: whether its provider was paid is unknown, and unknown is not zero.
"""

from dataclasses import dataclass
from typing import Literal, cast
from uuid import UUID

from pipeline.ledger.attempts import Call
from pipeline.ledger.connection import Statement, Transaction, together


@dataclass(frozen=True, slots=True)
class Budget:
    """What a job may take and has taken, in tokens and US dollars; None: without limit."""

    tokens: int | None
    usd: float | None
    tokens_taken: int
    usd_taken: float


def give(tx: Transaction, job_id: UUID, tokens: int | None, usd: float | None) -> None:
    """Give a new job its budget, if it has one."""
    if tokens is not None or usd is not None:
        tx.exec_driver_sql("INSERT INTO budgets (job_id, tokens, usd) VALUES (%s, %s, %s)", (job_id, tokens, usd))


def of_job(tx: Transaction, job_id: UUID) -> Budget | None:
    """The job's budget; None where it has none."""
    row = tx.exec_driver_sql(
        "SELECT tokens, usd, tokens_taken, usd_taken FROM budgets WHERE job_id = %s", (job_id,)
    ).one_or_none()
    return None if row is None else Budget(*row)


# Each decision on a budget comes after the one before.
_LOCK = "SELECT 1 FROM budgets WHERE job_id = %(job)s FOR NO KEY UPDATE"

# An attempt whose lease was lost works on as long as no later one has started. Sent again after a lost answer, the call
# finds its own row and takes nothing twice.
_OPEN = """
WITH held AS (
    SELECT attempt_id FROM items JOIN jobs USING (job_id)
     WHERE job_id = %(job)s AND position = %(position)s AND attempt_id = %(attempt)s
       AND (items.state = 'running' OR suspect) AND jobs.state = 'running' AND expires_at > clock_timestamp()
), short AS (
    SELECT 1 FROM budgets
     WHERE job_id = %(job)s
       AND (tokens_taken + %(tokens)s > tokens OR usd_taken + coalesce(%(usd)s::float8, 'infinity') > usd)
), opened AS (
    INSERT INTO calls (attempt_id, sequence, step, chunk, covers, reserved_tokens, reserved_usd, began_seconds)
    SELECT attempt_id, %(sequence)s, %(step)s, %(chunk)s, %(covers)s, %(tokens)s, %(usd)s, %(began)s
      FROM held WHERE NOT EXISTS (SELECT 1 FROM short)
    ON CONFLICT DO NOTHING
    RETURNING 1
), taken AS (
    UPDATE budgets SET tokens_taken = tokens_taken + %(tokens)s, usd_taken = usd_taken + coalesce(%(usd)s::float8, 0)
     WHERE job_id = %(job)s AND EXISTS (SELECT 1 FROM opened)
)
SELECT CASE WHEN NOT EXISTS (SELECT 1 FROM held) THEN 'overtaken'
            WHEN NOT EXISTS (SELECT 1 FROM short) OR EXISTS (
                 SELECT 1 FROM calls WHERE attempt_id = %(attempt)s AND sequence = %(sequence)s) THEN 'opened'
            WHEN %(usd)s::float8 IS NULL AND EXISTS (SELECT 1 FROM budgets WHERE job_id = %(job)s AND usd IS NOT NULL)
            THEN 'unpriced'
            WHEN EXISTS (SELECT 1 FROM calls JOIN attempts USING (attempt_id)
                          WHERE attempts.job_id = %(job)s AND outcome IS NULL AND latency_seconds IS NULL) THEN 'later'
            ELSE 'spent' END
  FROM (SELECT count(*) FROM opened) AS written
"""

Opened = Literal["opened", "later", "spent", "unpriced", "overtaken"]


def open_call(tx: Transaction, job_id: UUID, position: int, attempt_id: UUID, call: Call) -> Opened:
    """Write a call that is about to be sent, and take its reservation from the job's budget, if it has one.

    `later`: it does not fit now, but calls that are under way may give some of theirs back. `spent`: it never will.
    `unpriced`: the budget is in money, and nobody knows what the call may cost. `overtaken`: the item is no longer this
    attempt's, or its job was cancelled: nothing more is paid for it.
    """
    parameters = {
        "job": job_id,
        "position": position,
        "attempt": attempt_id,
        "sequence": call.sequence,
        "step": call.step,
        "chunk": call.chunk,
        "covers": call.covers,
        "tokens": call.reserved_tokens,
        "usd": call.reserved_usd,
        "began": call.began_seconds,
    }
    _, [(opened,)] = together(tx, Statement(_LOCK, parameters), Statement(_OPEN, parameters))
    return cast("Opened", opened)
