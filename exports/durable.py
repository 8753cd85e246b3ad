"""Files and folders that are on the disk, not only in the cache, when the next step relies on them."""

import hashlib
import os
from pathlib import Path
from types import TracebackType
from typing import Final, Self

#: Bytes that are hashed and written at once: one call for a thousand lines instead of two for each.
_CHUNK: Final = 1 << 20


class HashedFile:
    """A new file that is hashed while it is written, and synced when it is left without an error."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("xb")
        self._hash = hashlib.sha256()
        self._pending = bytearray()
        self.size = 0

    def write(self, data: bytes) -> None:
        """Append."""
        self._pending += data
        self.size += len(data)
        if len(self._pending) >= _CHUNK:
            self._drain()

    @property
    def sha256(self) -> str:
        """In hex, of the whole file: ask after it was left."""
        return self._hash.hexdigest()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._file:
            if kind is None:
                self._drain()
                self._file.flush()
                os.fsync(self._file.fileno())

    def _drain(self) -> None:
        self._hash.update(self._pending)
        self._file.write(self._pending)
        self._pending.clear()


def sync(path: Path) -> None:
    """Put a folder's names, or a file's bytes, on the disk."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def make_folder(folder: Path) -> None:
    """Make the folder and its parents where they are missing, each on the disk before it is used."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    sync(folder.parent)
