"""Deliver: a verified copy of a frozen bundle where an importer looks for it, then the receipt that proves it.

    <folder>/<export_id>/    the bundle's files, the seal last: whoever sees it sees the whole bundle

A folder for each export, so that two of them never mix in one place. A delivery that died between copy and receipt is
made again, with the same bytes.
"""

from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import structlog

from exports.copy_bundle import copy_bundle
from exports.freeze import folder_of, freeze
from exports.seal import SEAL, sha256_of
from pipeline import file_uri
from pipeline.domain import receipts as rules
from pipeline.domain.identity import check_key
from pipeline.domain.receipts import Reason
from pipeline.errors import DeliveryRefused, ExportMismatch, InvalidRequest, JobNotTerminal, Problem
from pipeline.ledger import jobs, receipts
from pipeline.ledger.connection import Ledger
from pipeline.ledger.exports import Export
from pipeline.ledger.receipts import Receipt

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Delivered:
    """The receipt that stands, and whether this delivery made it."""

    reason: Reason
    receipt: Receipt

    @property
    def folder(self) -> Path:
        """Where the bundle is."""
        return _place(self.receipt.uri, self.receipt.export_id)


def deliver(ledger: Ledger, export_dir: Path, job_id: UUID, to: str, key: str | None = None) -> Delivered:
    """The export of the job, frozen if need be, to the folder of the file:// URI `to`, once under `key`.

    Without a key, one is made of export and place. A key that has a receipt for this export gives that receipt and
    writes nothing, whatever `to` says. Raises NotFound, InvalidRequest, DeliveryRefused, ExportError.
    """
    uri = check_request(to, key)
    export = _frozen(ledger, export_dir, job_id)
    key = key or rules.default_key(export.export_id, uri)
    with ledger.statement() as tx:
        workspace = receipts.destination(tx, job_id).workspace
        receipt = receipts.find(tx, workspace, key)
    reason = rules.decide(export.export_id, receipt.export_id if receipt else None)
    if receipt is None:
        _copy(folder_of(export_dir, export), _place(uri, export.export_id), export)
        with ledger.statement() as tx:
            receipt, ours = receipts.write(tx, workspace, key, export.export_id, uri)
        reason = "delivered" if ours else rules.decide(export.export_id, receipt.export_id)
    if reason == "key-reused-for-other-export":
        raise DeliveryRefused(reason, f"key {key!r} belongs to the delivery of export {receipt.export_id}: use another")
    log.info("deliver.done", reason=reason, job_id=str(job_id), export_id=str(export.export_id))
    return Delivered(reason, receipt)


def check_request(to: str, key: str | None) -> str:
    """Refuse before any work what can be told then; the URI in its one spelling. Raises InvalidRequest."""
    if key is not None:
        check_key(key)
    try:
        return file_uri.checked(to)
    except ValueError as error:
        raise InvalidRequest([Problem("to", str(error))]) from None


def deliver_as_asked(ledger: Ledger, export_dir: Path, job_id: UUID) -> None:
    """Bring the job's export to where its submitter wanted it; once, and one at a time. Raises as `deliver` does.

    Its key is made of export and place: a key that somebody chose could be another delivery's already.
    """
    with ledger.try_lock(f"deliver:{job_id}") as got:
        if not got:
            return
        with ledger.statement() as tx:
            wanted = receipts.destination(tx, job_id)
        if wanted.uri is None or wanted.arrived:
            return
        deliver(ledger, export_dir, job_id, wanted.uri)
        with ledger.transaction() as tx:
            jobs.lock(tx, job_id)
            receipts.arrive(tx, job_id)


def _place(uri: str, export_id: UUID) -> Path:
    return file_uri.folder_of_uri(uri) / str(export_id)


def _frozen(ledger: Ledger, export_dir: Path, job_id: UUID) -> Export:
    try:
        return freeze(ledger, export_dir, job_id)
    except JobNotTerminal as error:
        raise DeliveryRefused(rules.decide(None, None), str(error)) from None


def _copy(bundle: Path, place: Path, export: Export) -> None:
    """The bundle's own seal vouches for its other files, the ledger for the seal."""
    if sha256_of(bundle / SEAL) != export.sha256:
        raise ExportMismatch(f"{bundle} does not hold export {export.export_id} as it was frozen: it is not delivered")
    copy_bundle(bundle, place)
