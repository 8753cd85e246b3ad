"""What an export is made of, read page by page, and the row that says it is frozen."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from pipeline.domain.results import ExportHeader, ManifestRecord
from pipeline.errors import JobNotTerminal, LedgerError, NotFound
from pipeline.ledger.attempts import SETTLED
from pipeline.ledger.connection import Ledger, Transaction

PAGE = 1_000


@dataclass(frozen=True, slots=True)
class Export:
    """One frozen manifest version. `sha256` is that of seal.json."""

    export_id: UUID
    job_id: UUID
    export_version: int
    sha256: str
    row_count: int
    frozen_at: datetime


_HEADER = """
SELECT job_id, idempotency_key, digest, export_version, state, options, total, coalesce(merged_rows, 0) AS merged_rows,
       pending, running, predecessor
  FROM jobs WHERE job_id = %s
"""


def header(tx: Transaction, job_id: UUID, export_id_of: Callable[[UUID, int], UUID]) -> ExportHeader:
    """The job's part of the seal; `export_id_of` makes the export's id of job and version.

    Raises NotFound, and JobNotTerminal until it may be frozen: completed, or cancelled with nothing pending or running.
    """
    row = tx.exec_driver_sql(_HEADER, (job_id,)).one_or_none()
    if row is None:
        raise NotFound("job", str(job_id))
    if row.state not in {"completed", "cancelled"} or row.pending + row.running:
        raise JobNotTerminal(str(job_id), row.state, row.pending + row.running)
    return ExportHeader(
        job_id=str(row.job_id),
        idempotency_key=row.idempotency_key,
        digest=row.digest,
        export_id=str(export_id_of(row.job_id, row.export_version)),
        export_version=row.export_version,
        supersedes=str(export_id_of(row.predecessor, row.export_version - 1)) if row.predecessor else None,
        job_state=row.state,
        options=json.loads(row.options),
        total=row.total,
        merged_rows=row.merged_rows,
    )


def predecessor(tx: Transaction, job_id: UUID) -> UUID | None:
    """The job that this one amends, if any."""
    found: UUID | None = tx.exec_driver_sql("SELECT predecessor FROM jobs WHERE job_id = %s", (job_id,)).scalar_one()
    return found


# Usage of all the item's attempts that settled, of the job that worked on it. What comes late or was lost is left out,
# for a bundle must not depend on when; money is summed in order, for it must not depend on the plan either.
_RECORDS = """
WITH merged AS (
    SELECT earlier.job_id, earlier.reduce_id FROM jobs JOIN jobs AS earlier USING (root_job_id)
     WHERE jobs.job_id = %(job)s AND earlier.export_version <= jobs.export_version AND earlier.reduce_id IS NOT NULL
     ORDER BY earlier.export_version DESC LIMIT 1
)
SELECT items.position, items.document_id, items.account_id, items.source_sha256, items.state, items.attempt_count,
       items.attempt_id::text, items.error_code, items.error_detail,
       CASE WHEN items.state = 'succeeded' THEN attempts.summary END,
       CASE WHEN items.state <> 'succeeded' THEN '[]'
            WHEN jobs.reduce_id IS NULL THEN attempts.actions
            ELSE coalesce(row_actions.actions, '[]') END,
       CASE WHEN items.state = 'succeeded' AND attempts.warnings <> '[]'
            THEN CASE WHEN items.warnings = '[]' THEN attempts.warnings
                      ELSE left(items.warnings, -1) || ',' || substr(attempts.warnings, 2) END
            ELSE items.warnings END,
       used.input_tokens, used.cached_tokens, used.output_tokens, used.cost_usd, coalesce(used.unknown_calls, 0),
       CASE WHEN attempts.outcome = ANY(%(settled)s) THEN attempts.model END, items.opportunity_id,
       CASE WHEN items.state = 'succeeded' AND jobs.reduce_id IS NULL THEN row_actions.actions END AS merged_before
  FROM items JOIN jobs USING (job_id)
  LEFT JOIN attempts USING (attempt_id)
  LEFT JOIN LATERAL (
       SELECT sum(input_tokens)::bigint AS input_tokens, sum(cached_tokens)::bigint AS cached_tokens,
              sum(output_tokens)::bigint AS output_tokens, sum(cost_usd ORDER BY number) AS cost_usd,
              sum(unknown_calls) AS unknown_calls
         FROM attempts AS settled
        WHERE settled.job_id = attempts.job_id AND settled.position = attempts.position
          AND settled.outcome = ANY(%(settled)s)) AS used ON true
  LEFT JOIN merged ON true
  LEFT JOIN row_actions ON row_actions.job_id = merged.job_id AND row_actions.reduce_id = merged.reduce_id
                       AND row_actions.position = items.position
 WHERE items.job_id = %(job)s AND items.position >= %(next)s
 ORDER BY items.position
 LIMIT %(page)s
"""


class RecordRow(NamedTuple):
    """One item's record and its opportunity.

    In a cancelled job nothing was merged: the record's actions are still the attempt's (FoundActions). `merged_before`
    is what they were merged to (CrmActions) in the newest completed job that this one amends, None where they were not.
    """

    record: ManifestRecord
    opportunity_id: str | None
    merged_before: str | None


def records(ledger: Ledger, job_id: UUID) -> Iterator[RecordRow]:
    """One per item in input order; by pages, each page a statement of its own."""
    after = 0
    while True:
        with ledger.statement() as tx:
            page = tx.exec_driver_sql(_RECORDS, {"job": job_id, "next": after, "page": PAGE, "settled": SETTLED}).all()
        yield from (RecordRow(ManifestRecord(*row[:-2]), row.opportunity_id, row.merged_before) for row in page)
        if len(page) < PAGE:
            return
        after = page[-1][0] + 1


_ACTIONS = """
SELECT ordinal, action FROM merged_actions JOIN jobs USING (job_id, reduce_id)
 WHERE job_id = %(job)s AND ordinal >= %(next)s ORDER BY ordinal LIMIT %(page)s
"""


def merged_actions(ledger: Ledger, job_id: UUID) -> Iterator[str]:
    """The merged set in its order, each a MergedAction as JSON text; empty in a cancelled job."""
    after = 0
    while True:
        with ledger.statement() as tx:
            page = tx.exec_driver_sql(_ACTIONS, {"job": job_id, "next": after, "page": PAGE}).all()
        yield from (row.action for row in page)
        if len(page) < PAGE:
            return
        after = page[-1].ordinal + 1


_FOUND = "SELECT export_id, job_id, export_version, sha256, row_count, frozen_at FROM exports WHERE job_id = %s"


def find(tx: Transaction, job_id: UUID) -> Export | None:
    """The job's export, once frozen."""
    row = tx.exec_driver_sql(_FOUND, (job_id,)).one_or_none()
    return Export(*row) if row is not None else None


_RECORD = """
INSERT INTO exports (export_id, job_id, export_version, sha256, row_count)
VALUES (%(export_id)s, %(job_id)s, %(export_version)s, %(sha256)s, %(row_count)s)
ON CONFLICT (export_id) DO NOTHING
"""

_MARK = """
UPDATE jobs SET frozen_at = clock_timestamp(), nudged_at = NULL, nudges = 0
 WHERE job_id = %(job_id)s AND frozen_at IS NULL
"""


def record(tx: Transaction, header: ExportHeader, sha256: str) -> Export:
    """Say that the export is frozen; said again, the row that stands. Raises LedgerError if that has another hash.

    The caller holds the job row's lock.
    """
    parameters = {
        "export_id": header.export_id,
        "job_id": header.job_id,
        "export_version": header.export_version,
        "sha256": sha256,
        "row_count": header.total,
    }
    tx.exec_driver_sql(_RECORD, parameters)
    tx.exec_driver_sql(_MARK, parameters)
    standing = find(tx, UUID(header.job_id))
    if standing is None or standing.sha256 != sha256:
        raise LedgerError(f"export {header.export_id} is frozen with another hash: do not deliver this folder")
    return standing
