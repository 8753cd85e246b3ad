"""The files in a zip archive, read where they are: nothing is unpacked, and no size that it declares is believed."""

import lzma
import re
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from io import SEEK_END
from pathlib import PurePosixPath
from stat import S_ISLNK
from tempfile import SpooledTemporaryFile
from typing import IO, Final, cast
from zipfile import BadZipFile, ZipFile, ZipInfo

from pipeline.domain.text import nfc, storable
from pipeline.errors import Problem
from pipeline.transcripts.batch.file import File, Found, Stream, Unreadable
from pipeline.transcripts.batch.skips import kept
from pipeline.transcripts.read import MAX_BYTES

MAX_ENTRIES: Final = 20_000
#: Of all files in one archive.
MAX_TOTAL: Final = 4 * 1024**3
#: What is larger than any call and packed more tightly than this is a bomb, and not unpacked for its hash alone.
_TIGHTEST: Final = 100
#: The list of an archive's files is read at once: 20,000 names take less.
MAX_DIRECTORY: Final = 8 * 1024**2
_CHUNK: Final = 1024**2
_ENCRYPTED, _UTF8 = 0x1, 0x800
#: `C:` or a slash.
_ABSOLUTE = re.compile(r"/|[A-Za-z]:")
#: How an office document names its parts; a spreadsheet or a text document is one document, not a batch.
_OFFICE = ("[Content_Types].xml", "mimetype")
_BROKEN = "a broken zip archive: make it again, or unpack it first"
_ERRORS = (BadZipFile, EOFError, zlib.error, lzma.LZMAError, NotImplementedError, OSError, ValueError, RuntimeError)


def is_in(stream: Stream, name: str) -> bool:
    """Whether a file that begins like a zip archive holds files, and is no office document.

    Of a broken one only its name says what it was: many calls, without which no night is to go on, or one.
    """
    try:
        names = set(_opened(stream).namelist())
    except (*_ERRORS, Unreadable):
        return name.lower().endswith(".zip")
    return names.isdisjoint(_OFFICE)


def files(stream: Stream, archive: File) -> Iterator[Found]:
    """Its files in order; those of `a.zip` are named `a.zip/…`, and those at its top lie in the folder `a`.

    A Problem for an archive that is broken or too large, and for each entry that is encrypted, a link, or leads out.
    """
    try:
        zipped = _opened(stream)
    except Unreadable as error:
        yield Problem(archive.place, str(error))
    except _ERRORS:
        yield Problem(archive.place, _BROKEN)
    else:
        yield from kept(_entries(zipped, archive), archive.place)


def _opened(stream: Stream) -> ZipFile:
    zipped = ZipFile(cast("IO[bytes]", _Careful(stream)))
    if len(zipped.infolist()) > MAX_ENTRIES:
        raise Unreadable(_too_many())
    if sum(entry.compress_size for entry in zipped.infolist()) > stream.seek(0, SEEK_END):
        raise BadZipFile  # its files overlap, as only a bomb's do
    return zipped


def _too_many() -> str:
    return f"more than {MAX_ENTRIES:,} files in one archive: unpack it first, or make several"


class _Careful:
    """A stream that hands nothing out at once that is longer than any directory may be."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self.seek, self.tell, self.seekable = stream.seek, stream.tell, stream.seekable

    def read(self, size: int = -1) -> bytes:
        if size > MAX_DIRECTORY:
            raise Unreadable(_too_many())
        return self._stream.read(size if size >= 0 else MAX_DIRECTORY)


class _Purse:
    """How many bytes all files of an archive may still have. One that is read twice is charged once."""

    def __init__(self) -> None:
        self._left = MAX_TOTAL
        self._charged = dict[int, int]()

    def charge(self, entry: ZipInfo, size: int) -> None:
        """So many bytes of the file were read. Raises Unreadable where that is too much of all."""
        known = self._charged.get(entry.header_offset, 0)
        if size > known:
            self._charged[entry.header_offset] = size
            self._left -= size - known
        if self._left < 0:
            raise Unreadable(f"more than {MAX_TOTAL // 1024**3} GiB in one archive: unpack it first, or make several")


def _entries(zipped: ZipFile, archive: File) -> Iterator[tuple[str, Found]]:
    purse = _Purse()
    for entry in zipped.infolist():
        if not entry.filename.endswith("/"):
            name = _name(entry)
            yield name, _entry(zipped, entry, name, archive, purse)


def _name(entry: ZipInfo) -> str:
    """Its path with slashes. Many programs write UTF-8 and do not say so; some of Windows write backslashes."""
    name = entry.filename
    if not entry.flag_bits & _UTF8:
        with suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    name = nfc(name.replace("\\", "/"))
    return name if _ABSOLUTE.match(name) else "/".join(part for part in name.split("/") if part not in {"", "."})


def _entry(zipped: ZipFile, entry: ZipInfo, name: str, archive: File, purse: _Purse) -> Found:
    place = f"{archive.place}/{storable(name)}"
    if not name:
        return Problem(place, "a file without a name: make the archive again")
    if _ABSOLUTE.match(name) or ".." in name.split("/"):
        return Problem(place, "a path that leaves the archive: make it again with plain relative names")
    if S_ISLNK(entry.external_attr >> 16):
        return Problem(place, "a link: put the file itself into the archive")
    if entry.flag_bits & _ENCRYPTED:
        return Problem(place, "encrypted: unpack the archive first")
    folder = PurePosixPath(name).parent.name or re.sub(r"(?i)\.zip$", "", PurePosixPath(archive.name).name)
    return File(f"{archive.name}/{name}", place, folder, lambda: _contents(zipped, entry, purse))


def _contents(zipped: ZipFile, entry: ZipInfo, purse: _Purse) -> Stream:
    """All bytes of one file, on the disk where they are many. Raises Unreadable where they are broken or too many."""
    with ExitStack() as stack:
        data = stack.enter_context(SpooledTemporaryFile(MAX_BYTES))
        for chunk in _chunks(zipped, entry):
            data.write(chunk)
            purse.charge(entry, data.tell())
            if data.tell() > max(MAX_BYTES, _TIGHTEST * entry.compress_size):
                raise Unreadable(f"unpacks to more than {_TIGHTEST} times its size: leave it out, or unpack it first")
        data.seek(0)
        stack.pop_all()
        return data


def _chunks(zipped: ZipFile, entry: ZipInfo) -> Iterator[bytes]:
    try:
        with zipped.open(entry) as packed:
            while chunk := packed.read(_CHUNK):
                yield chunk
    except _ERRORS:
        raise Unreadable(_BROKEN) from None
