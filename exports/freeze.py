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
from exports.seal import SEAL, sha256_of
from pipeline.domain.actions import FoundAction
from pipeline.domain.identity import export_id
from pipeline.domain.merge import Context, Contribution, alone
from pipeline.domain.results import ExportHeader, ManifestRecord
from pipeline.ledger import exports, jobs, reduction
from pipeline.ledger.connection import Ledger
from pipeline.ledger.exports import Export

log = structlog.get_logger(__name__)

_FOUND = TypeAdapter(tuple[FoundAction, ...])


def freeze(ledger: Ledger, export_dir: Path, job_id: UUID) -> Export:
    """The job's export; written now, or the one that stands. Raises NotFound, JobNotTerminal, ExportMismatch."""
    with ledger.statement() as tx:
        standing = exports.find(tx, job_id)
        if standing is not None and (folder_of(export_dir, standing) / SEAL).exists():
            return standing
        header = exports.header(tx, job_id, export_id)
    folder = export_dir / str(job_id) / f"v{header.export_version}"
    write_bundle(
        folder, header, _records(ledger, header), exports.merged_actions(ledger, job_id), now=datetime.now(UTC)
    )
    sha256 = sha256_of(folder / SEAL)
    with ledger.transaction() as tx:
        jobs.lock(tx, job_id)
        export = exports.record(tx, header, sha256)
    log.info("freeze.frozen", job_id=str(job_id), export_id=header.export_id, rows=header.total)
    return export


def folder_of(export_dir: Path, export: Export) -> Path:
    """Where the export's bundle stands."""
    return export_dir / str(export.job_id) / f"v{export.export_version}"


def _records(ledger: Ledger, header: ExportHeader) -> Iterator[ManifestRecord]:
    """The rows' records; in a cancelled job nothing was merged, so each document's actions get their keys alone."""
    job_id = UUID(header.job_id)
    if header.job_state == "completed":
        yield from (record for record, _ in exports.records(ledger, job_id))
        return
    with ledger.statement() as tx:
        job = reduction.reducible_job(tx, job_id)
    context = Context(job.workspace, header.job_id, header.export_id, job.require)
    for record, opportunity_id in exports.records(ledger, job_id):
        found = _FOUND.validate_json(record.actions_json)
        own = alone(context, Contribution(record.position, record.document_id, opportunity_id, None, found))
        yield record._replace(actions_json=to_json(own).decode())
