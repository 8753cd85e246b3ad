"""What a job may spend. A call that costs is written, and its demand taken from the budget, before it is sent.

A call that never ends keeps what it took: whether its provider was paid is unknown, and unknown is not zero.
"""

from typing import Literal
from uuid import UUID

from pipeline.ledger.connection import Statement, Transaction, together

_OPEN = """
WITH holder AS (
    SELECT 1 FROM items WHERE job_id = %(job)s AND position = %(position)s AND attempt_id = %(attempt)s
), budget AS (
    UPDATE budgets SET tokens_taken = tokens_taken + %(tokens)s, usd_taken = usd_taken + coalesce(%(usd)s::float8, 0)
     WHERE job_id = %(job)s AND EXISTS (SELECT 1 FROM holder)
       AND (tokens IS NULL OR tokens_taken + %(tokens)s <= tokens)
       AND (usd IS NULL OR usd_taken + coalesce(%(usd)s::float8, 0) <= usd)
    RETURNING 1
)
INSERT INTO calls (attempt_id, sequence, step, chunk, covers, reserved_tokens, reserved_usd, began_seconds)
SELECT %(attempt)s, %(sequence)s, %(step)s, %(chunk)s, %(covers)s, %(tokens)s, %(usd)s, %(began)s
 WHERE EXISTS (SELECT 1 FROM holder)
   AND (EXISTS (SELECT 1 FROM budget) OR NOT EXISTS (SELECT 1 FROM budgets WHERE job_id = %(job)s))
ON CONFLICT DO NOTHING
RETURNING sequence
"""

# Sent again after a lost answer, it finds its own row.
_REFUSED = """
SELECT EXISTS (SELECT 1 FROM calls WHERE attempt_id = %(attempt)s AND sequence = %(sequence)s) AS opened,
       EXISTS (SELECT 1 FROM items WHERE job_id = %(job)s AND position = %(position)s AND attempt_id = %(attempt)s)
         AS held,
       EXISTS (SELECT 1 FROM calls JOIN attempts USING (attempt_id)
                WHERE attempts.job_id = %(job)s AND attempts.outcome IS NULL AND calls.latency_seconds IS NULL)
         AS under_way
"""

Opened = Literal["opened", "later", "spent", "overtaken"]


def open_call(
    tx: Transaction,
    job_id: UUID,
    position: int,
    attempt_id: UUID,
    *,
    sequence: int,
    step: str,
    chunk: int,
    covers: str | None,
    tokens: int,
    usd: float | None,
    began: float,
) -> Opened:
    """Write a call that is about to be sent, and take its demand from the job's budget, if it has one.

    `later`: it does not fit now, but calls that are under way may give some of theirs back. `spent`: it never will.
    `overtaken`: another attempt holds the item.
    """
    parameters = {
        "job": job_id,
        "position": position,
        "attempt": attempt_id,
        "sequence": sequence,
        "step": step,
        "chunk": chunk,
        "covers": covers,
        "tokens": tokens,
        "usd": usd,
        "began": began,
    }
    [rows] = together(tx, Statement(_OPEN, parameters))
    if rows:
        return "opened"
    why = tx.exec_driver_sql(_REFUSED, parameters).one()
    if why.opened:
        return "opened"
    if not why.held:
        return "overtaken"
    return "later" if why.under_way else "spent"
