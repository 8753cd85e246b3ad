"""What the reducer reads and writes: one merge group at a time, under a `reduce_id` that counts only once completed."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import groupby
from typing import Any, Literal, NamedTuple
from uuid import UUID

from psycopg import Cursor

from pipeline.domain.groups import MergeGroup
from pipeline.domain.results import JobState
from pipeline.errors import NotFound
from pipeline.ledger.connection import Ledger, Transaction


@dataclass(frozen=True, slots=True)
class ReducibleJob:
    """A job as the reducer and the exporter see it.

    `before_job_id` and `before_reduce_id` name the merged set of its newest predecessor that was completed.
    """

    job_id: UUID
    workspace: str
    state: JobState
    require: Literal["any", "all"]
    export_version: int
    open_items: int
    reduce_id: UUID | None
    before_job_id: UUID | None
    before_reduce_id: UUID | None


_JOB = """
SELECT jobs.job_id, jobs.workspace, jobs.state, jobs.require, jobs.export_version, jobs.pending + jobs.running,
       jobs.reduce_id, earlier.job_id, earlier.reduce_id
  FROM jobs
  LEFT JOIN jobs AS earlier ON earlier.root_job_id = jobs.root_job_id AND earlier.export_version < jobs.export_version
                           AND earlier.reduce_id IS NOT NULL
 WHERE jobs.job_id = %s
 ORDER BY earlier.export_version DESC
 LIMIT 1
"""


def reducible_job(tx: Transaction, job_id: UUID) -> ReducibleJob:
    """Read the job. Raises NotFound."""
    row = tx.exec_driver_sql(_JOB, (job_id,)).one_or_none()
    if row is None:
        raise NotFound("job", str(job_id))
    return ReducibleJob(*row)


class MemberRow(NamedTuple):
    """One document of a group: its actions (FoundActions, JSON text) or the code for which it gave none."""

    position: int
    document_id: str
    state: str
    error_code: str | None
    opportunity_id: str | None
    occurred_at: datetime | None
    actions: str | None
    #: a successor's row that was never merged before: it succeeded in a job that was then cancelled
    unmerged: bool


# Ordered by code point, whatever the database's collation: the merged set has the same order everywhere.
_MEMBERS = """
SELECT account_id, consent_scope, retention_class, items.position, items.document_id, items.state, items.error_code,
       items.opportunity_id, items.occurred_at, CASE WHEN items.state = 'succeeded' THEN attempts.actions END,
       items.carried AND items.state = 'succeeded' AND before.position IS NULL
  FROM items LEFT JOIN attempts USING (attempt_id)
  LEFT JOIN row_actions AS before ON before.job_id = %(before_job_id)s AND before.reduce_id = %(before_reduce_id)s
                                 AND before.position = items.position
 WHERE items.job_id = %(job_id)s AND (items.state <> 'succeeded' OR attempts.actions <> '[]')
 ORDER BY account_id COLLATE "C", consent_scope COLLATE "C", retention_class COLLATE "C", items.position
"""


def groups(ledger: Ledger, job: ReducibleJob) -> Iterator[tuple[MergeGroup, Iterator[MemberRow]]]:
    """Each merge group with its documents that have actions or are missing; the others bring nothing.

    One ordered scan through a cursor on the server: the memory is that of a group, whatever the number of groups. The
    documents are final, so the scan's age does not matter; between two fetches a group is merged, for as long as it
    takes.
    """
    with _streamed(ledger, _MEMBERS, job) as rows:
        for group, members in groupby(rows, key=lambda row: MergeGroup(*row[:3])):
            yield group, (MemberRow(*row[3:]) for row in members)


_MERGED_BEFORE = """
SELECT action FROM merged_actions WHERE job_id = %(before_job_id)s AND reduce_id = %(before_reduce_id)s ORDER BY ordinal
"""


def merged_before(ledger: Ledger, job: ReducibleJob) -> Iterator[str]:
    """The merged set of the newest completed predecessor, in its order, which is that of the groups; by a cursor too.

    Each is a MergedAction as JSON text.
    """
    if job.before_job_id is not None:
        with _streamed(ledger, _MERGED_BEFORE, job) as rows:
            yield from (row.action for row in rows)


@contextmanager
def _streamed(ledger: Ledger, statement: str, job: ReducibleJob) -> Iterator[Iterable[Any]]:
    with ledger.transaction() as tx:
        tx.exec_driver_sql("SET LOCAL idle_in_transaction_session_timeout = 0")
        streamed = tx.execution_options(stream_results=True, max_row_buffer=500)
        yield streamed.exec_driver_sql(statement, asdict(job))


class MergedRow(NamedTuple):
    """One merged action: its place in the merged set, its key and the whole MergedAction as JSON text."""

    ordinal: int
    action_key: str
    action: str


def write_group(
    tx: Transaction, job_id: UUID, reduce_id: UUID, merged: Iterable[MergedRow], rows: Iterable[tuple[int, str]]
) -> None:
    """Store a group's merged actions, and per position the document's own actions as they stand in its row."""
    cursor: Cursor[tuple[object, ...]] = tx.connection.cursor()  # type: ignore[assignment]  # psycopg's, by the dialect
    with cursor.copy("COPY merged_actions (job_id, reduce_id, ordinal, action_key, action) FROM STDIN") as copy:
        for one in merged:
            copy.write_row((job_id, reduce_id, *one))
    with cursor.copy("COPY row_actions (job_id, reduce_id, position, actions) FROM STDIN") as copy:
        for position, actions in rows:
            copy.write_row((job_id, reduce_id, position, actions))


def discard(tx: Transaction, job_id: UUID) -> None:
    """Delete what reducers that did not finish have written. The caller holds the lock of the job, which is running."""
    for table in ("merged_actions", "row_actions"):
        tx.exec_driver_sql(f"DELETE FROM {table} WHERE job_id = %s", (job_id,))
