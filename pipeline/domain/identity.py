"""Ids that are made of other ids, so that making them again gives the same."""

from uuid import UUID, uuid5


def export_id(job_id: UUID, export_version: int) -> UUID:
    """An export's id: no clock and no chance in it, so a freeze that is repeated names the same export."""
    return uuid5(job_id, f"export-{export_version}")
