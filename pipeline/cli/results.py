"""What a finished job's bundle says: a table of its documents, the counts, and what to open next."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from exports.seal import ACTIONS, MANIFEST, REPORT, SEAL, Seal
from pipeline.cli import screen

ROWS_SHOWN: Final = 30


def show(bundle: Path, *, as_json: bool) -> Seal:
    """Print the bundle's seal as JSON, or its table; returns the seal."""
    seal = Seal.model_validate_json((bundle / SEAL).read_bytes())
    if as_json:
        screen.answer({"out": str(bundle), **seal.model_dump()})
    else:
        screen.table(("document", "account", "state", "attempts", "code", "actions"), _rows(bundle))
        _summary(bundle, seal)
    return seal


def _rows(bundle: Path) -> Iterator[tuple[object, ...]]:
    with (bundle / MANIFEST).open("rb") as manifest:
        for line, _ in zip(manifest, range(ROWS_SHOWN), strict=False):
            row: dict[str, Any] = json.loads(line)
            yield (
                row["document_id"],
                row["account_id"],
                row["state"],
                row["attempt_count"],
                row["error_code"],
                len(row["actions"]),
            )


def _summary(bundle: Path, seal: Seal) -> None:
    counts = seal.counts
    if counts.total > ROWS_SHOWN:
        screen.line(f"… and {counts.total - ROWS_SHOWN} more in {bundle / MANIFEST}")
    codes = ", ".join(f"{number} {code}" for code, number in seal.error_codes.items())
    screen.line()
    screen.line(
        f"{seal.job_state}: {counts.succeeded} of {counts.total} succeeded, {counts.failed} failed, "
        f"{counts.skipped} skipped" + (f" ({codes})" if codes else "") + f"; {seal.rows.actions} merged actions"
    )
    screen.line(f"job {seal.job_id}, export {seal.export_id}")
    screen.line()
    screen.line(f"Open {bundle / REPORT} first.")
    screen.line(f"The merged actions are in {bundle / ACTIONS}, one row per call in {bundle / MANIFEST}.")
