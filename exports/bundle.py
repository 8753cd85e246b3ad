"""Freeze what the ledger hands over into one folder that is either wholly there or not there at all.

    records -> manifest.ndjson -+-> report.md -> seal.json -> sync -> rename -> sync
    actions -> actions.ndjson  -+
       '---> diff.json, where another export is superseded

The folder is written beside its target under a name of its own, so two freezers never meet before the rename. Whoever
comes second compares: the same bytes are the same export, other bytes are never overwritten. No clock and no chance in
the bundle: freezing again gives the same bytes.
"""

import errno
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final, Literal, cast
from uuid import uuid4

from pydantic_core import from_json

from exports.diff import Content, Difference
from exports.durable import HashedFile, make_folder, sync
from exports.index import ActionPlace, Index
from exports.manifest import manifest_line
from exports.report import write_report
from exports.seal import ACTIONS, DIFF, MANIFEST, REPORT, SEAL, Seal, SealCounts, SealRows, sha256_of
from pipeline.domain.results import ExportHeader, ManifestRecord
from pipeline.errors import ExportError, ExportMismatch

#: A temporary folder in which nothing was written for so long belongs to a freeze that is dead.
DEAD_AFTER: Final = timedelta(hours=1)

FinalState = Literal["completed", "cancelled"]

_OCCUPIED: Final = {errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR}


def write_bundle(
    target: Path,
    header: ExportHeader,
    records: Iterable[ManifestRecord],
    actions: Iterable[str],
    before: Content | None = None,
    *,
    now: datetime,
) -> Seal:
    """Write the bundle into the folder `target`, or find it there with the same bytes; the memory of an index.

    `records` come by position, `actions` are complete MergedAction JSON texts in their final order, `before` is the
    export that is superseded, if any. `now` only serves to clear away what dead freezes left beside the target.

    Raises ExportError when rows and header do not agree or the disk fails, ExportMismatch when the target holds another
    export; neither leaves anything behind.
    """
    with _disk_errors(target), _own_folder(target, now) as folder:
        seal = _write_files(folder, header, Content(records, actions), before)
        sync(folder)
        _put_in_place(folder, target, seal)
        sync(target.parent)
    return seal


@contextmanager
def _disk_errors(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ExportError(f"{target}: {error.strerror or error}; see to the disk and freeze again") from error


@contextmanager
def _own_folder(target: Path, now: datetime) -> Iterator[Path]:
    make_folder(target.parent)
    _remove_dead_folders(target, now)
    folder = target.with_name(f".{target.name}.{uuid4().hex}.tmp")
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _remove_dead_folders(target: Path, now: datetime) -> None:
    for folder in target.parent.iterdir():
        ours = folder.name.startswith(f".{target.name}.") and folder.name.endswith(".tmp")
        if ours and _last_written(folder, now) < (now - DEAD_AFTER).timestamp():
            shutil.rmtree(folder, ignore_errors=True)


def _last_written(folder: Path, now: datetime) -> float:
    try:
        return max(path.stat().st_mtime for path in (folder, *folder.iterdir()))
    except (FileNotFoundError, NotADirectoryError):  # its freezer renamed it just now: alive
        return now.timestamp()


def _write_files(folder: Path, header: ExportHeader, content: Content, before: Content | None) -> Seal:
    state = _final_state(header)
    files: dict[str, HashedFile] = {}
    if before is None:
        index = _write_data(folder, header, content, files)
    else:
        with Difference(before) as difference:
            watched = Content(difference.rows(content.records), difference.actions(content.actions))
            index = _write_data(folder, header, watched, files)
            with HashedFile(folder / DIFF) as files[DIFF]:
                difference.write(files[DIFF], header)
    with HashedFile(folder / REPORT) as files[REPORT]:
        write_report(files[REPORT], header, index, folder / MANIFEST, folder / ACTIONS)
    seal = _seal(header, state, index, {name: file.sha256 for name, file in files.items()})
    with HashedFile(folder / SEAL) as sealed:
        sealed.write(seal.to_bytes())
    return seal


def _write_data(folder: Path, header: ExportHeader, content: Content, files: dict[str, HashedFile]) -> Index:
    index = Index()
    with HashedFile(folder / MANIFEST) as files[MANIFEST]:
        _write_manifest(files[MANIFEST], header, content.records, index)
    with HashedFile(folder / ACTIONS) as files[ACTIONS]:
        _write_actions(files[ACTIONS], header, content.actions, index)
    return index


def _write_manifest(
    manifest: HashedFile, header: ExportHeader, records: Iterable[ManifestRecord], index: Index
) -> None:
    position = -1
    for position, record in enumerate(records):
        _check(record, position, header.total)
        index.account(record.account_id).add_call(record.state, manifest.size)
        index.states[record.state] += 1
        if record.error_code is not None:
            index.error_codes[record.error_code] += 1
        manifest.write(manifest_line(header, record) + b"\n")
    if position + 1 != header.total:
        raise ExportError(f"job {header.job_id} has {header.total} documents, the ledger gave {position + 1} rows")


def _check(record: ManifestRecord, position: int, total: int) -> None:
    if record.position != position or position >= total:
        raise ExportError(
            f"document {record.document_id} stands at position {record.position} where {position} of {total} was due: "
            "every position must come once and in order"
        )
    if record.state not in {"succeeded", "failed", "skipped"}:
        raise ExportError(f"document {record.document_id} is {record.state}: only final states can be frozen")
    if (record.state == "succeeded") != (record.error_code is None):
        raise ExportError(f"document {record.document_id} is {record.state} with error code {record.error_code}")


def _write_actions(merged: HashedFile, header: ExportHeader, actions: Iterable[str], index: Index) -> None:
    count = 0
    for count, text in enumerate(actions, 1):
        account_id, place, disposition = _placed(text, count)
        index.account(account_id).add_action(place, disposition, merged.size)
        merged.write(text.encode() + b"\n")
    if count != header.merged_rows:
        raise ExportError(f"job {header.job_id} has {header.merged_rows} merged actions, the ledger gave {count}")


def _placed(text: str, number: int) -> tuple[str, ActionPlace, Any]:
    if "\n" in text:
        raise ExportError(f"merged action {number} is not one line of JSON")
    try:
        action = from_json(text)
        group = action["group"]
        place = ActionPlace(group["consent_scope"], group["retention_class"], action["kind"])
        return group["account_id"], place, action["disposition"]
    except (ValueError, KeyError, TypeError):
        raise ExportError(f"merged action {number} is not the JSON of a merged action") from None


def _seal(header: ExportHeader, state: FinalState, index: Index, files: dict[str, str]) -> Seal:
    states = index.states
    return Seal(
        job_id=header.job_id,
        idempotency_key=header.idempotency_key,
        job_digest=header.digest,
        export_id=header.export_id,
        export_version=header.export_version,
        supersedes=header.supersedes,
        job_state=state,
        options=dict(sorted(header.options.items())),
        counts=SealCounts(
            total=header.total,
            succeeded=states["succeeded"],
            failed=states["failed"],
            skipped=states["skipped"],
        ),
        error_codes=dict(sorted(index.error_codes.items())),
        rows=SealRows(manifest=header.total, actions=header.merged_rows),
        files=files,
    )


def _final_state(header: ExportHeader) -> FinalState:
    if header.job_state not in {"completed", "cancelled"}:
        raise ExportError(f"job {header.job_id} is {header.job_state}: only a completed or cancelled job can be frozen")
    return cast("FinalState", header.job_state)


def _put_in_place(folder: Path, target: Path, seal: Seal) -> None:
    try:
        folder.rename(target)
    except OSError as error:
        if error.errno not in _OCCUPIED:
            raise
        if not _holds(target, seal):
            raise ExportMismatch(
                f"{target} holds other bytes than export {seal.export_id}: it is left as it is; move it away, "
                "or find out who wrote it"
            ) from None


def _holds(target: Path, seal: Seal) -> bool:
    try:
        found = {name: sha256_of(target / name) for name in seal.files}
        return found == seal.files and (target / SEAL).read_bytes() == seal.to_bytes()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return False
