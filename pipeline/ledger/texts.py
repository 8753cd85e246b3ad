"""A document's words, read back. They belong to the root job: its successors read the same."""

from typing import NamedTuple
from uuid import UUID

from pipeline.domain.groups import MergeGroup
from pipeline.ledger.connection import Transaction


class StoredText(NamedTuple):
    """A document's merge group and its turns as JSON text."""

    group: MergeGroup
    turns: str


def of_document(tx: Transaction, job_id: UUID, document_id: str) -> StoredText | None:
    """The words of a job's document by the caller's id; None where there is no such document or it has no words."""
    row = tx.exec_driver_sql(
        "SELECT account_id, consent_scope, retention_class, turns FROM items JOIN jobs USING (job_id) "
        "JOIN texts ON texts.job_id = jobs.root_job_id AND texts.position = items.position "
        "WHERE items.job_id = %s AND document_id = %s",
        (job_id, document_id),
    ).one_or_none()
    return StoredText(MergeGroup(*row[:3]), row[3]) if row is not None else None
