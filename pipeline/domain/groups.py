"""The merge group: merging never crosses it."""

from typing import NamedTuple, Self

from pipeline.domain.documents import DocumentFields


class MergeGroup(NamedTuple):
    """What documents must have in common for their actions to be merged."""

    account_id: str
    consent_scope: str
    retention_class: str

    @classmethod
    def of(cls, fields: DocumentFields) -> Self:
        """The group of a document."""
        return cls(fields.account_id, fields.consent_scope, fields.retention_class)
