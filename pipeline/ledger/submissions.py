"""Storing a request: texts first, by COPY under a made-up job id; then key, job and items in one short transaction.

Nobody waits on somebody else's upload: the key is taken only when all is there. Texts whose job never came are swept.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, LiteralString, NamedTuple
from uuid import UUID

from psycopg import Cursor

from pipeline.errors import InvalidRequest
from pipeline.ledger import budgets, jobs
from pipeline.ledger.connection import Ledger, Transaction

TEXTS_PER_TRANSACTION = 500


class TextRow(NamedTuple):
    """One document's turns, JSON text."""

    position: int
    turns: str


class ItemRow(NamedTuple):
    """One item as it is born: pending, or failed where the document is bad from the start."""

    position: int
    document_id: str
    account_id: str
    consent_scope: str
    retention_class: str
    occurred_at: datetime | None
    opportunity_id: str | None
    contact_id: str | None
    owner_hint: str | None
    source_sha256: str
    warnings: str
    error_code: str | None
    error_detail: str | None


@dataclass(frozen=True, slots=True)
class NewJob:
    """What a job is stored with; `options` is the JSON text as given, the rest what it means."""

    job_id: UUID
    workspace: str
    idempotency_key: str
    digest: str
    options: str
    profile: str
    require: Literal["any", "all"]
    concurrency: int
    max_attempts: int
    language: str | None
    deadline_seconds: int
    total: int
    born_failed: int
    #: a file:// URI to which the export goes once it is frozen
    deliver_to: str | None
    budget_tokens: int | None
    budget_usd: float | None


class KeyHolder(NamedTuple):
    """The job that a key is bound to, and the digest it is bound with."""

    job_id: UUID
    digest: str


def copy_texts(ledger: Ledger, job_id: UUID, rows: Iterator[TextRow]) -> None:
    """Copy the texts in short transactions; memory is that of one row."""
    with ledger.transaction() as tx:
        tx.exec_driver_sql("INSERT INTO uploads (job_id) VALUES (%s)", (job_id,))
    more = True
    while more:
        with ledger.transaction() as tx:
            more = _copy_some(tx, job_id, rows)


def _copy_some(tx: Transaction, job_id: UUID, rows: Iterator[TextRow]) -> bool:
    with _cursor(tx).copy("COPY texts (job_id, position, turns) FROM STDIN") as copy:
        for _ in range(TEXTS_PER_TRANSACTION):
            row = next(rows, None)
            if row is None:
                return False
            copy.write_row((job_id, *row))
    return True


_TAKE_KEY = """
INSERT INTO idempotency_keys (workspace, idempotency_key, digest, job_id)
VALUES (%s, %s, %s, %s)
ON CONFLICT DO NOTHING
"""

_INSERT_JOB = """
INSERT INTO jobs (job_id, workspace, idempotency_key, digest, options, profile, require, concurrency, max_attempts,
                  language, state, version, created_at, expires_at, total, pending, running, succeeded, failed, skipped,
                  root_job_id, export_version, deliver_to, same_content_as)
SELECT %(job_id)s, %(workspace)s, %(idempotency_key)s, %(digest)s, %(options)s, %(profile)s, %(require)s,
       %(concurrency)s, %(max_attempts)s, %(language)s, 'accepted', 1, now,
       now + %(deadline_seconds)s * interval '1 second', %(total)s, %(total)s - %(born_failed)s, 0, 0,
       %(born_failed)s, 0, %(job_id)s, 1, %(deliver_to)s,
       (SELECT job_id FROM jobs WHERE workspace = %(workspace)s AND digest = %(digest)s
           AND state IN ('accepted', 'running') ORDER BY created_at LIMIT 1)
  FROM clock_timestamp() AS now
RETURNING created_at
"""

_ITEM_COLUMNS: LiteralString = (
    "job_id, position, document_id, account_id, consent_scope, retention_class, occurred_at, opportunity_id, "
    "contact_id, owner_hint, source_sha256, warnings, error_code, error_detail, state, finished_at"
)


def admit_request(tx: Transaction, job: NewJob, rows: Iterable[ItemRow]) -> KeyHolder | None:
    """Bind the key and store job and items, all or nothing. Returns the other job where the key is taken already.

    Raises InvalidRequest where the texts were swept meanwhile, or are fewer than was said.
    """
    parameters = {name: getattr(job, name) for name in NewJob.__slots__}
    holder = take_key(tx, job.workspace, job.idempotency_key, job.digest, job.job_id)
    if holder is not None:
        return holder
    created_at = tx.exec_driver_sql(_INSERT_JOB, parameters).scalar_one()
    budgets.give(tx, job.job_id, job.budget_tokens, job.budget_usd)
    _copy_items(tx, job, created_at, rows)
    if not _close_upload(tx, job.job_id):
        raise InvalidRequest("the upload took so long that its texts were swept: submit it again")
    jobs.accept(tx, job.job_id, created_at)
    return None


def _copy_items(tx: Transaction, job: NewJob, born_at: datetime, rows: Iterable[ItemRow]) -> None:
    copied = 0
    with _cursor(tx).copy(f"COPY items ({_ITEM_COLUMNS}) FROM STDIN") as copy:
        for row in rows:
            born = ("failed", born_at) if row.error_code else ("pending", None)
            copy.write_row((job.job_id, *row, *born))
            copied += 1
    if copied != job.total:
        raise InvalidRequest(f"{job.total} documents were announced and {copied} handed in: submit them again")


def take_key(tx: Transaction, workspace: str, key: str, digest: str, job_id: UUID) -> KeyHolder | None:
    """Bind the key to the job; returns the other job where it is taken already."""
    taken = tx.exec_driver_sql(_TAKE_KEY, (workspace, key, digest, job_id)).rowcount == 1
    return None if taken else key_holder(tx, workspace, key)


def key_holder(tx: Transaction, workspace: str, key: str) -> KeyHolder | None:
    """The job that the key is bound to, if any."""
    row = tx.exec_driver_sql(
        "SELECT job_id, digest FROM idempotency_keys WHERE workspace = %s AND idempotency_key = %s", (workspace, key)
    ).one_or_none()
    return KeyHolder(*row) if row is not None else None


def discard_texts(ledger: Ledger, job_id: UUID) -> None:
    """Delete an upload whose job did not come of it; one whose job came at this moment keeps its texts."""
    with ledger.transaction() as tx:
        if _close_upload(tx, job_id):
            tx.exec_driver_sql("DELETE FROM texts WHERE job_id = %s", (job_id,))


def _close_upload(tx: Transaction, job_id: UUID) -> bool:
    """Whoever deletes the row decides: the texts belong to a job, or to nobody."""
    return tx.exec_driver_sql("DELETE FROM uploads WHERE job_id = %s", (job_id,)).rowcount == 1


def orphan_uploads(tx: Transaction, older_than_seconds: float, limit: int = 10) -> list[UUID]:
    """Uploads without a job that are older than that."""
    found = tx.exec_driver_sql(
        "SELECT job_id FROM uploads WHERE started_at < clock_timestamp() - %s * interval '1 second' "
        "ORDER BY started_at LIMIT %s",
        (older_than_seconds, limit),
    )
    return list(found.scalars())


def _cursor(tx: Transaction) -> Cursor[tuple[object, ...]]:
    cursor: Cursor[tuple[object, ...]] = tx.connection.cursor()  # type: ignore[assignment]  # psycopg's, by the dialect
    return cursor
