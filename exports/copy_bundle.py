"""The verified copy of a frozen bundle for `--out`: the user's folder with the latest bundle of the job they ran.

Only a bundle's own files are ever written or replaced there, one rename each and the seal last, so whoever sees the
new seal sees the new files. A copy that was interrupted goes on where it stopped; the next one
removes what a killed one left.
"""

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, flock
from pathlib import Path
from typing import Final
from uuid import uuid4

from pydantic import ValidationError

from exports.durable import make_folder, sync
from exports.seal import DIFF, FILES, SEAL, Seal, sha256_of
from pipeline.errors import ExportError, InvalidRequest

#: The names that `_copy` gives to what it writes.
_PART: Final = re.compile(rf"\.({'|'.join(map(re.escape, FILES))})\.[0-9a-f]{{32}}\.tmp")


def copy_bundle(source: Path, out: Path) -> None:
    """Bring the bundle in `source` into the folder `out`; one that is there already is left alone.

    Raises InvalidRequest where `out` holds something that is no bundle, ExportError where the source does not have the
    bytes that its seal names or the disk fails.
    """
    try:
        wanted = _wanted(source)
        _check_place(out, wanted)
        make_folder(out)
        with _locked(out):
            _remove_diff(out, wanted)
            for name, sha256 in wanted.items():
                _copy(source / name, out / name, sha256)
            sync(out)
    except OSError as error:
        raise ExportError(f"copying {source} to {out}: {error.strerror or error}") from error


def check_out(out: Path) -> None:
    """Refuse before any work what `copy_bundle` would refuse after it, as far as that can be told: InvalidRequest."""
    if out.exists() and not out.is_dir():
        raise InvalidRequest(f"{out} is a file: name a folder for the bundle")
    if not out.exists() or _seal_in(out) is not None:
        return
    foreign = [path.name for path in out.iterdir() if not path.name.startswith(".") and path.name not in FILES]
    if foreign:
        raise InvalidRequest(f"{out} holds {min(foreign)} and no bundle: name an empty folder, or a bundle's")


def _wanted(source: Path) -> Mapping[str, str]:
    """The hash of each file, the seal's last."""
    seal = _seal_in(source)
    if seal is None or seal.files.keys() != set(seal.sealed):
        raise ExportError(f"{source} holds no bundle: freeze the job again")
    return {**seal.files, SEAL: sha256_of(source / SEAL)}


def _seal_in(folder: Path) -> Seal | None:
    try:
        return Seal.model_validate_json((folder / SEAL).read_bytes())
    except (FileNotFoundError, ValidationError):
        return None


def _check_place(out: Path, wanted: Mapping[str, str]) -> None:
    if out.exists() and not out.is_dir():
        raise InvalidRequest(f"{out} is a file: name a folder for the bundle")
    if not out.exists() or _seal_in(out) is not None:
        return
    for path in out.iterdir():
        hidden = path.name.startswith(".")
        if not hidden and not _has(path, wanted.get(path.name)):
            raise InvalidRequest(f"{out} holds {path.name} and no bundle: name an empty folder, or a bundle's")


@contextmanager
def _locked(out: Path) -> Iterator[None]:
    """Share the folder's lock with other copies. Who finds it free copies alone: each part there is a killed copy's.

    An age would not tell: a killed delivery is made again within seconds, and then never again.
    """
    folder = os.open(out, os.O_RDONLY)
    try:
        with suppress(OSError):  # another copies, or the disk knows no locks: nothing is removed
            flock(folder, LOCK_EX | LOCK_NB)
            _remove_parts(out)
        with suppress(OSError):
            flock(folder, LOCK_SH)
        yield
    finally:
        os.close(folder)


def _remove_parts(out: Path) -> None:
    for path in out.iterdir():
        if _PART.fullmatch(path.name):
            path.unlink()


def _remove_diff(out: Path, wanted: Mapping[str, str]) -> None:
    """The diff of a bundle that is replaced goes with it where the new one has none; a file of one's own stays."""
    replaced = _seal_in(out)
    if DIFF not in wanted and replaced is not None and _has(out / DIFF, replaced.files.get(DIFF)):
        (out / DIFF).unlink()


def _copy(source: Path, target: Path, sha256: str) -> None:
    if _has(target, sha256):
        return
    part = target.with_name(f".{target.name}.{uuid4().hex}.tmp")
    try:
        shutil.copyfile(source, part)
        sync(part)
        if not _has(part, sha256):
            raise ExportError(f"{source} does not have the bytes that its seal names: freeze the job again")
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _has(path: Path, sha256: str | None) -> bool:
    """Whether the path is a file of its own with these bytes."""
    return path.is_file() and not path.is_symlink() and sha256_of(path) == sha256
