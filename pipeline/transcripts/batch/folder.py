"""The files of a folder on this machine."""

import os
from collections.abc import Iterator
from pathlib import Path
from stat import S_ISDIR, S_ISREG

import structlog

from pipeline.domain.text import nfc, storable
from pipeline.errors import Problem
from pipeline.transcripts.batch.file import File, Found
from pipeline.transcripts.batch.skips import is_junk, is_media, kept

log = structlog.get_logger(__name__)


def files(given: Path) -> Iterator[Found]:
    """The files that a path stands for: itself, or those below it in order.

    A Problem for a path that does not exist, a link that leaves the folder or leads nowhere, a folder that cannot be
    listed, a pipe or a device, and where there is nothing to read at all.
    """
    place = storable(str(given))
    try:
        mode = given.stat().st_mode
    except FileNotFoundError:
        yield Problem(place, "there is no such file or folder")
    except OSError as error:
        yield Problem(place, f"cannot be read: {error.strerror}")
    else:
        if S_ISDIR(mode):
            yield from kept(_entries(given), place)
        elif is_media(given.name):
            yield Problem(place, "a recording or a picture: hand in its transcript")
        else:
            yield _file(given, nfc(given.name), mode)


def _below(folder: Path) -> Iterator[tuple[str, Path]]:
    """Every file, and every folder that is not gone into: junk, links, and those that cannot be listed."""
    denied: list[OSError] = []
    for parent, folders, names in os.walk(folder, onerror=denied.append):
        closed = [name for name in folders if is_junk(name) or Path(parent, name).is_symlink()]
        folders[:] = [name for name in folders if name not in closed]
        for name in (*closed, *names):
            path = Path(parent, name)
            yield nfc(path.relative_to(folder).as_posix()), path
    for error in denied:
        path = Path(os.fsdecode(error.filename))
        yield nfc(path.relative_to(folder).as_posix()), path


def _entries(folder: Path) -> Iterator[tuple[str, Found]]:
    for name, path in _below(folder):
        if path.is_symlink() and path.is_dir() and _is_within(folder, path):
            # Its files are read where they lie.
            log.warning("link_skipped", folder=storable(str(folder)), name=storable(name))
            continue
        try:
            yield name, _entry(folder, name, path)
        except OSError as error:
            yield name, Problem(storable(str(path)), f"cannot be read: {error.strerror}")


def _entry(folder: Path, name: str, path: Path) -> Found:
    place = storable(str(path))
    if path.is_symlink():
        if not _is_within(folder, path):
            return Problem(place, "a link that leaves the folder: copy the file, or give its own path")
        if not path.exists():
            return Problem(place, "a link that leads nowhere: remove it")
    elif path.is_dir():
        return Problem(place, "the folder cannot be listed: check its permissions")
    return _file(path, name, path.stat().st_mode)


def _is_within(folder: Path, link: Path) -> bool:
    return Path(os.path.realpath(link)).is_relative_to(os.path.realpath(folder))


def _file(path: Path, name: str, mode: int) -> Found:
    place = storable(str(path))
    if not S_ISREG(mode):
        return Problem(place, "a pipe or a device: copy it to a file first")
    return File(name, place, _folder_of(path), lambda: path.open("rb"))


def _folder_of(path: Path) -> str:
    """The name of the folder that a file lies in, whichever way it was given."""
    return nfc(Path(os.path.abspath(path)).parent.name)  # noqa: PTH100 - resolve() follows links
