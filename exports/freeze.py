"""Freeze: a terminal job's bundle is written once, then the ledger says so.

The folder comes first and the row second; a freeze that died in between finds the folder, compares it, and writes the
row. Two at once write the same bytes, for nothing in a bundle depends on a clock or on chance.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import structlog
from pydantic import TypeAdapter
from pydantic_core import to_json

from exports.bundle import write_bundle
from exports.diff import Content
from exports.seal import SEAL, sha256_of
from pipeline.domain.actions import CrmAction, FoundAction
from pipeline.domain.identity import export_id
from pipeline.domain.merge import Context, Contribution, alone, unmerged
from pipeline.domain.results import ExportHeader, ManifestRecord
from pipeline.ledger import exports, jobs, reduction
from pipeline.ledger.connection import Ledger, Transaction
from pipeline.ledger.exports import Export, RecordRow

log = structlog.get_logger(__name__)

_FOUND = TypeAdapter(tuple[FoundAction, ...])
_MERGED = TypeAdapter(tuple[CrmAction, ...])


def freeze(ledger: Ledger, export_dir: Path, job_id: UUID) -> Export:
    """The job's export; written now, or the one that stands. Raises NotFound, JobNotTerminal, ExportMismatch."""
    with ledger.statement() as tx:
        standing = exports.find(tx, job_id)
        if standing is not None and (folder_of(export_dir, standing) / SEAL).exists():
            return standing
        header = exports.header(tx, job_id, export_id)
        superseded = _superseded(tx, job_id)
    folder = export_dir / str(job_id) / f"v{header.export_version}"
    before = _content(ledger, superseded) if superseded else None
    write_bundle(folder, header, *_content(ledger, header), before, now=datetime.now(UTC))
    sha256 = sha256_of(folder / SEAL)
    with ledger.transaction() as tx:
        jobs.lock(tx, job_id)
        export = exports.record(tx, header, sha256)
    log.info("freeze.frozen", job_id=str(job_id), export_id=header.export_id, rows=header.total)
    return export


def folder_of(export_dir: Path, export: Export) -> Path:
    """Where the export's bundle stands."""
    return export_dir / str(export.job_id) / f"v{export.export_version}"


def _superseded(tx: Transaction, job_id: UUID) -> ExportHeader | None:
    predecessor = exports.predecessor(tx, job_id)
    return exports.header(tx, predecessor, export_id) if predecessor else None


def _content(ledger: Ledger, header: ExportHeader) -> Content:
    return Content(_records(ledger, header), exports.merged_actions(ledger, UUID(header.job_id)))


def _records(ledger: Ledger, header: ExportHeader) -> Iterator[ManifestRecord]:
    """The rows' records. In a cancelled job nothing was merged: a document's actions keep the keys that they had, or
    get them alone.
    """
    job_id = UUID(header.job_id)
    if header.job_state == "completed":
        yield from (row.record for row in exports.records(ledger, job_id))
        return
    with ledger.statement() as tx:
        job = reduction.reducible_job(tx, job_id)
    context = Context(job.workspace, header.job_id, header.export_id, job.require)
    for row in exports.records(ledger, job_id):
        yield row.record._replace(actions_json=to_json(_unmerged(context, row)).decode())


def _unmerged(context: Context, row: RecordRow) -> tuple[CrmAction, ...]:
    if row.merged_before is not None:
        return tuple(unmerged(action) for action in _MERGED.validate_json(row.merged_before))
    record = row.record
    found = _FOUND.validate_json(record.actions_json)
    return alone(context, Contribution(record.position, record.document_id, row.opportunity_id, None, found))
