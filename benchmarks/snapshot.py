"""A job beside an old open snapshot: no dead row version may be cleared away while it lasts.

What a document costs in the last tenth of the job is held against the first tenth of the same job.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from benchmarks.bed import Bed
from benchmarks.documents import calls
from benchmarks.pairs import Comparison, Finding, at_most
from benchmarks.scale import Scale

_TENTHS = """
WITH ends AS (
    SELECT ended_at, row_number() OVER (ORDER BY ended_at) AS n, count(*) OVER () AS total
      FROM attempts WHERE job_id = %s
)
SELECT extract(epoch FROM max(ended_at) FILTER (WHERE n > total * 9 / 10)
                          - min(ended_at) FILTER (WHERE n > total * 9 / 10))::float8,
       extract(epoch FROM max(ended_at) FILTER (WHERE n <= total / 10)
                          - min(ended_at) FILTER (WHERE n <= total / 10))::float8
  FROM ends
"""


def snapshot(bed: Bed, scale: Scale) -> Iterator[Finding]:
    """The last tenth against the first."""
    what = f"{scale.snapshot:,} documents beside an old snapshot, the last tenth"
    compared = Comparison(what, "ms/document", "the first tenth", at_most(1.3))
    with bed.workers(scale.slots):
        yield compared.of([_tenths(bed, scale) for _ in range(scale.pairs)])


def _tenths(bed: Bed, scale: Scale) -> tuple[float, float]:
    bed.clear()
    job_id = bed.submit(calls(scale.snapshot, 500), scale.slots)
    with _old_snapshot(bed):
        bed.complete(job_id)
    bed.wait_until_frozen(job_id)
    last, first = bed.row(_TENTHS, job_id)
    return last / (scale.snapshot / 10) * 1_000, first / (scale.snapshot / 10) * 1_000


@contextmanager
def _old_snapshot(bed: Bed) -> Iterator[None]:
    """A transaction that looked once and stays open."""
    with psycopg.connect(bed.urls["DATABASE_URL"].replace("+psycopg", "")) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.execute("SELECT count(*) FROM jobs")
        yield
        connection.rollback()
