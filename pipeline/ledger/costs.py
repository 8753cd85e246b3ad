"""What calls cost, summed from them where it is asked for. Reads only.

    useful     calls whose answer stands, but for input that had been sent before
    retried    that input: an earlier call of the same step and chunk was lost
    invalid    calls that answered, and unusably
    lost       calls that failed otherwise, never ended, were answered again later, or whose document has no result
    under_way  calls whose attempt still runs and that have not ended

A call that told no usage is unknown and counts as no tokens: then the sums are at least so much, and `unknown_tokens`,
what those calls had reserved, tells at most how much more.
"""

from dataclasses import dataclass
from typing import Final, Literal, LiteralString
from uuid import UUID

from pipeline.ledger.connection import Transaction
from pipeline.settings import Prices

Cause = Literal["useful", "retried", "invalid", "lost", "under_way"]

_HAS_ENDED: LiteralString = "(calls.latency_seconds IS NOT NULL OR attempts.outcome IS NOT NULL)"
_UNKNOWN: LiteralString = f"(calls.reserved_tokens IS NOT NULL AND calls.input_tokens IS NULL AND {_HAS_ENDED})"

#: A job's sums over its calls, as columns of a lateral join with `jobs`.
USED: Final[LiteralString] = f"""
       SELECT sum(calls.input_tokens)::bigint AS input_tokens, sum(calls.cached_tokens)::bigint AS cached_tokens,
              sum(calls.output_tokens)::bigint AS output_tokens, sum(calls.cost_usd) AS cost_usd,
              count(*) FILTER (WHERE {_UNKNOWN}) AS unknown_calls
         FROM calls JOIN attempts USING (attempt_id) WHERE attempts.job_id = jobs.job_id"""


@dataclass(frozen=True, slots=True)
class Cost:
    """One cause's share. Money that nobody knows is None; the calls of `retried` are counted where they are useful."""

    cause: Cause
    calls: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    cost_usd: float | None
    unknown_calls: int
    unknown_tokens: int
    unknown_usd: float | None


# What of a call's money its input was, only the prices can tell; where there are none, all of it stays with the call.
_BY_CAUSE = f"""
WITH called AS (
    SELECT attempts.position, step, chunk, attempts.number, sequence, calls.input_tokens, calls.cached_tokens,
           calls.output_tokens, calls.cost_usd, reserved_tokens, reserved_usd, {_UNKNOWN} AS is_unknown,
           CASE WHEN NOT {_HAS_ENDED} THEN 'under_way'
                WHEN calls.error_code IN ('invalid_output', 'output_truncated', 'content_filtered', 'refused')
                THEN 'invalid'
                WHEN calls.error_code IS NULL AND latency_seconds IS NOT NULL
                     AND items.state NOT IN ('failed', 'skipped') THEN 'useful'
                ELSE 'lost' END AS ended_as
      FROM calls JOIN attempts USING (attempt_id)
      JOIN items ON items.job_id = attempts.job_id AND items.position = attempts.position
     WHERE attempts.job_id = %(job)s AND (%(position)s::int IS NULL OR attempts.position = %(position)s)
), told AS (
    SELECT *, CASE WHEN ended_as = 'useful' AND lead(true) OVER answers THEN 'lost' ELSE ended_as END AS cause
      FROM called
    WINDOW answers AS (PARTITION BY position, step, chunk, ended_as = 'useful' ORDER BY number, sequence)
), weighed AS (
    SELECT *,
           cause = 'useful' AND coalesce(bool_or(cause = 'lost' AND input_tokens IS DISTINCT FROM 0) OVER before, false)
             AS is_sent_again,
           CASE WHEN %(input)s::float8 IS NOT NULL AND cost_usd IS NOT NULL
                THEN least(cost_usd, (greatest(0, input_tokens - coalesce(cached_tokens, 0)) * %(input)s::float8
                                      + coalesce(cached_tokens, 0) * %(cached)s::float8) / 1000000) END AS input_usd
      FROM told
    WINDOW before AS (PARTITION BY position, step, chunk ORDER BY number, sequence
                      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
), shares AS (
    SELECT cause, 1 AS calls, CASE WHEN NOT is_sent_again THEN input_tokens END AS input_tokens,
           CASE WHEN NOT is_sent_again THEN cached_tokens END AS cached_tokens, output_tokens,
           cost_usd - CASE WHEN is_sent_again THEN coalesce(input_usd, 0) ELSE 0 END AS cost_usd,
           is_unknown, reserved_tokens, reserved_usd
      FROM weighed
     UNION ALL
    SELECT 'retried', 0, input_tokens, cached_tokens, NULL, input_usd, false, NULL, NULL
      FROM weighed WHERE is_sent_again
)
SELECT cause, sum(calls), coalesce(sum(input_tokens), 0)::bigint, coalesce(sum(cached_tokens), 0)::bigint,
       coalesce(sum(output_tokens), 0)::bigint, sum(cost_usd), count(*) FILTER (WHERE is_unknown),
       coalesce(sum(reserved_tokens) FILTER (WHERE is_unknown), 0)::bigint,
       sum(reserved_usd) FILTER (WHERE is_unknown)
  FROM shares
 GROUP BY cause
 ORDER BY array_position(ARRAY['useful', 'retried', 'invalid', 'lost', 'under_way'], cause)
"""


def by_cause(tx: Transaction, job_id: UUID, prices: Prices | None, position: int | None = None) -> list[Cost]:
    """What a job's calls, or those of one of its documents, cost and for what; causes without any are left out.

    A carried row's calls are of the job that worked on it.
    """
    parameters = {
        "job": job_id,
        "position": position,
        "input": None if prices is None else prices.input,
        "cached": None if prices is None else prices.cached,
    }
    return [Cost(*row) for row in tx.exec_driver_sql(_BY_CAUSE, parameters)]
