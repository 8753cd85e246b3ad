"""Ids that are made of other ids, so that making them again gives the same, and keys that callers choose."""

from typing import Final
from uuid import UUID, uuid5

from pipeline.domain.text import is_storable
from pipeline.errors import InvalidRequest

#: The one tenant, until there are several.
WORKSPACE: Final = "default"

#: What the keys of `callfold tune`'s jobs begin with: nobody waits for their ends.
MEASUREMENT: Final = "callfold-tune-"


def export_id(job_id: UUID, export_version: int) -> UUID:
    """An export's id: no clock and no chance in it, so a freeze that is repeated names the same export."""
    return uuid5(job_id, f"export-{export_version}")


def check_key(key: str) -> None:
    """Raises InvalidRequest for what no request and no delivery may be known by."""
    if not (1 <= len(key) <= 512 and key.isprintable() and is_storable(key)):
        raise InvalidRequest("a key has 1 to 512 printable characters")
