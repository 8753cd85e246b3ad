"""What the ledger knows of how fast things go: of one job, and of all calls that a profile has made. Reads only."""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from pipeline.ledger.connection import Transaction

#: The newest jobs of a profile say how it is now.
_JOBS: Final = 20


@dataclass(frozen=True, slots=True)
class JobMeasures:
    """`documents` had a result, in `seconds` from the first start to the last end; latencies of calls that answered.

    `codes`: of calls, and of attempts of whose calls none failed.
    """

    documents: int
    seconds: float
    median_latency: float | None
    p95_latency: float | None
    codes: dict[str, int]


_MEASURES = """
WITH tried AS (SELECT * FROM attempts WHERE job_id = %(job)s),
     called AS (SELECT calls.* FROM calls JOIN tried USING (attempt_id)),
     ended AS (
         SELECT error_code FROM called WHERE error_code IS NOT NULL
         UNION ALL
         SELECT error_code FROM tried WHERE error_code IS NOT NULL AND NOT EXISTS (
                SELECT 1 FROM called WHERE called.attempt_id = tried.attempt_id AND called.error_code IS NOT NULL)
     )
SELECT count(*) FILTER (WHERE outcome = 'succeeded') AS documents,
       coalesce(extract(epoch FROM max(ended_at) - min(started_at)), 0)::float8 AS seconds,
       (SELECT percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY latency_seconds)
          FROM called WHERE error_code IS NULL) AS latencies,
       (SELECT coalesce(json_object_agg(error_code, n), '{}')
          FROM (SELECT error_code, count(*) AS n FROM ended GROUP BY error_code ORDER BY error_code) AS x) AS codes
  FROM tried
"""


def of_job(tx: Transaction, job_id: UUID) -> JobMeasures:
    """How fast the job's attempts went, and what they ended with."""
    row = tx.exec_driver_sql(_MEASURES, {"job": job_id}).one()
    median, p95 = row.latencies or (None, None)
    return JobMeasures(row.documents, row.seconds, median, p95, row.codes)


_OLDEST = """
SELECT coalesce(extract(epoch FROM clock_timestamp() - min(coalesce(available_at, released_at))), 0)::float8
  FROM items
 WHERE job_id = %s AND (state = 'released' OR state = 'pending' AND available_at <= clock_timestamp())
"""


def oldest_runnable(tx: Transaction, job_id: UUID) -> float:
    """For how many seconds the oldest document has waited that has a lane, or whose retry is due; 0: none has."""
    age: float = tx.exec_driver_sql(_OLDEST, (job_id,)).scalar_one()
    return age


@dataclass(frozen=True, slots=True)
class StepMeasures:
    """What the calls of a step took that answered: how many are known, tokens on average, the median in seconds.

    `output_tokens` None: no provider told any.
    """

    calls: int
    output_tokens: float | None
    latency_seconds: float


_STEPS = """
SELECT calls.step, count(*) AS calls, avg(calls.output_tokens)::float8 AS output_tokens,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY calls.latency_seconds) AS latency_seconds
  FROM calls JOIN attempts USING (attempt_id)
 WHERE calls.error_code IS NULL AND calls.latency_seconds IS NOT NULL
   AND attempts.job_id IN (SELECT job_id FROM jobs WHERE profile = %(profile)s
                            ORDER BY created_at DESC LIMIT %(jobs)s)
 GROUP BY calls.step
"""


def of_profile(tx: Transaction, profile: str) -> dict[str, StepMeasures]:
    """By step: what the calls of the profile's newest jobs took."""
    rows = tx.exec_driver_sql(_STEPS, {"profile": profile, "jobs": _JOBS})
    return {row.step: StepMeasures(row.calls, row.output_tokens, row.latency_seconds) for row in rows}
