"""The files of a batch: which are read, which are skipped, and in which order.

The order is that of the NFC relative paths, so the same batch is the same on every machine and file system.
"""

import os
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISDIR, S_ISREG

import structlog

from pipeline.domain.text import storable
from pipeline.errors import Problem

TRANSCRIPTS = frozenset({".txt", ".vtt", ".srt"})
LINES = frozenset({".ndjson", ".jsonl"})
LOOKED_FOR = "looked for .txt, .vtt and .srt transcripts and .ndjson or .jsonl files of documents"

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class File:
    """A file to read. `name` is its path relative to what was given, with slashes, in NFC."""

    path: Path
    name: str

    @property
    def holds_lines(self) -> bool:
        """Whether it is a file of documents, one a line; otherwise it is one transcript."""
        return self.path.suffix.lower() in LINES

    @property
    def place(self) -> str:
        """Where it is, for messages."""
        return storable(str(self.path))


def files(given: Path) -> Iterator[File | Problem]:
    """The files that a path stands for: itself, or those below it in order.

    A Problem for a path that does not exist, a link that leaves the folder or leads nowhere, a folder that cannot be
    listed, a file of another kind, and where there is nothing to read at all.
    """
    place = storable(str(given))
    try:
        mode = given.stat().st_mode
    except FileNotFoundError:
        yield Problem(place, "there is no such file or folder")
    except OSError as error:
        yield Problem(place, f"cannot be read: {error.strerror}")
    else:
        yield from _below(given) if S_ISDIR(mode) else _alone(given, mode, place)


def _alone(given: Path, mode: int, place: str) -> Iterator[File | Problem]:
    if not S_ISREG(mode):
        yield Problem(place, "a pipe or a device: copy it to a file first")
    elif _is_read(given):
        yield File(given, _nfc(given.name))
    else:
        yield Problem(place, f"not a transcript: {LOOKED_FOR}")


def _below(folder: Path) -> Iterator[File | Problem]:
    found = sorted(_entries(folder), key=lambda entry: (entry[0], os.fsencode(entry[1])))
    skipped: Counter[str] = Counter()
    anything = False
    for name, path in found:
        entry = _entry(folder, name, path)
        if entry is None:
            skipped[path.suffix.lower()] += 1
        else:
            anything = True
            yield entry
    for extension, count in sorted(skipped.items()):
        log.info("files_skipped", folder=storable(str(folder)), extension=extension, count=count)
    if not anything:
        yield Problem(storable(str(folder)), f"nothing to read: {LOOKED_FOR}")


def _entries(folder: Path) -> Iterator[tuple[str, Path]]:
    """Every file, every link to a folder and every folder that cannot be listed, but for the junk."""
    denied: list[OSError] = []
    for parent, folders, names in os.walk(folder, onerror=denied.append):
        folders[:] = [name for name in folders if not _is_junk(name, parent)]
        links = [name for name in folders if Path(parent, name).is_symlink()]
        for name in (*links, *(name for name in names if not _is_junk(name, parent))):
            path = Path(parent, name)
            yield _nfc(path.relative_to(folder).as_posix()), path
    for error in denied:
        path = Path(os.fsdecode(error.filename))
        yield _nfc(path.relative_to(folder).as_posix()), path


def _entry(folder: Path, name: str, path: Path) -> File | Problem | None:
    """What to do about one entry; None: it is of a kind that is not read."""
    place = storable(str(path))
    if path.is_symlink():
        target = Path(os.path.realpath(path))
        if not target.is_relative_to(os.path.realpath(folder)):
            return Problem(place, "a link that leaves the folder: copy the file, or give its own path")
        if not target.exists():
            return Problem(place, "a link that leads nowhere: remove it")
    elif path.is_dir():
        return Problem(place, "the folder cannot be listed: check its permissions")
    return File(path, name) if _is_read(path) else None


def _is_read(path: Path) -> bool:
    return path.suffix.lower() in TRANSCRIPTS | LINES and path.is_file()


def _is_junk(name: str, parent: str) -> bool:
    """What desktops and editors leave behind: `.DS_Store`, `._call.vtt`, `~$call.txt`, and all that is hidden."""
    junk = name.startswith((".", "~$"))
    if junk:
        log.info("junk_skipped", folder=storable(parent), name=storable(name))
    return junk


def _nfc(name: str) -> str:
    return unicodedata.normalize("NFC", name)
