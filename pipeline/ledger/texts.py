"""A document's words, read back."""

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
        "SELECT account_id, consent_scope, retention_class, turns FROM items JOIN texts USING (job_id, position) "
        "WHERE job_id = %s AND document_id = %s",
        (job_id, document_id),
    ).one_or_none()
    return StoredText(MergeGroup(*row[:3]), row[3]) if row is not None else None
