"""`seal.json`: what a bundle holds, with the hashes of its other files. Who trusts it can check the rest."""

import hashlib
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

SEAL: Final = "seal.json"
MANIFEST: Final = "manifest.ndjson"
ACTIONS: Final = "actions.ndjson"
REPORT: Final = "report.md"
DIFF: Final = "diff.json"
#: The files that every seal vouches for.
SEALED: Final = (MANIFEST, ACTIONS, REPORT)
#: All that may stand in a bundle; the diff only where it supersedes another.
FILES: Final = (*SEALED, DIFF, SEAL)


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SealCounts(_Frozen):
    """Documents by final state; the three sum to `total`."""

    total: int = Field(ge=0)
    succeeded: int = Field(ge=0)
    failed: int = Field(ge=0)
    skipped: int = Field(ge=0)


class SealRows(_Frozen):
    """Lines of the two data files."""

    manifest: int = Field(ge=0)
    actions: int = Field(ge=0)


class Seal(_Frozen):
    """One frozen export. `error_codes` counts documents by code, `files` has the hex sha256 of each sealed file."""

    schema_version: Literal[1] = 1
    manifest_schema_version: Literal[1] = 1
    actions_schema_version: Literal[1] = 1
    job_id: str
    idempotency_key: str
    job_digest: str
    export_id: str
    export_version: int
    supersedes: str | None
    job_state: Literal["completed", "cancelled"]
    options: dict[str, str | int | float]
    counts: SealCounts
    error_codes: dict[str, int]
    rows: SealRows
    files: dict[str, str]

    @property
    def sealed(self) -> tuple[str, ...]:
        """The files that this seal must vouch for."""
        return SEALED if self.supersedes is None else (*SEALED, DIFF)

    def to_bytes(self) -> bytes:
        """The file's bytes: indented, for people look into it."""
        return self.model_dump_json(indent=2).encode() + b"\n"


def sha256_of(path: Path) -> str:
    """The file's sha256 in hex. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
