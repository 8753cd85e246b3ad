"""Receipts: an export is delivered once under a key, and the key answers for that export alone."""

from typing import Literal
from uuid import UUID, uuid5

Reason = Literal["delivered", "duplicate-delivery", "key-reused-for-other-export", "not-terminal"]


def decide(export_id: UUID | None, standing: UUID | None) -> Reason:
    """What a delivery of `export_id` comes to under a key; `standing` is the export of the key's receipt.

    No export: the job is not terminal. No receipt: it is delivered. The key decides, not the place: a repetition that
    names another place gets the receipt that stands, and nothing is written there.
    """
    if export_id is None:
        return "not-terminal"
    if standing is None:
        return "delivered"
    return "duplicate-delivery" if standing == export_id else "key-reused-for-other-export"


def default_key(export_id: UUID, uri: str) -> str:
    """The key of a delivery that was given none: the same export to the same place is the same delivery."""
    return f"deliver-{uuid5(export_id, uri)}"
