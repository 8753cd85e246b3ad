"""The files of a bucket, through obstore.

Credentials, regions and endpoints come from the environment, as obstore reads them (AWS_…, GOOGLE_…, AZURE_…). A bucket
lists its objects over many pages and in any order; the batch is that of a folder with the same files.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from io import SEEK_CUR, SEEK_END, SEEK_SET, BufferedReader, RawIOBase
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import obstore
from obstore.exceptions import (
    BaseError,
    GenericError,
    InvalidPathError,
    PermissionDeniedError,
    PreconditionError,
    UnauthenticatedError,
)
from obstore.store import from_url

from pipeline.domain.text import nfc, storable
from pipeline.errors import Problem
from pipeline.transcripts.batch.file import File, Found, Unreadable
from pipeline.transcripts.batch.skips import is_media, kept

if TYPE_CHECKING:  # what obstore has for type checkers alone
    from obstore import GetOptions, ObjectMeta
    from obstore.store import ObjectStore, RetryConfig

#: What one request asks for: it has 30 seconds, and options that lengthen them would replace those of the environment.
_PART: Final = 8 * 1024**2
#: A store that does not answer is given up while somebody still waits.
_RETRIES: "Final[RetryConfig]" = {"max_retries": 4, "retry_timeout": timedelta(seconds=60)}
#: A list that never ends is given up, too.
MAX_OBJECTS: Final = 1_000_000


def files(scheme: str, bucket: str, key: str) -> Iterator[Found]:
    """The objects below a key in the order of their names, or the one that it names.

    Raises Unreadable where they cannot be listed.
    """
    top = _Place(scheme, bucket, key)
    with _plainly():
        store = from_url(f"{scheme}://{bucket}", retry_config=_RETRIES)
        listed = [each for each in _listed(store, key) if not _is_marker(store, key, each)]
        alone = None if listed else _found(store, key)
    if alone is None:
        objects = _Store(store)
        below = ((nfc(each["path"].removeprefix(f"{key}/")), each) for each in listed)
        yield from kept(((name, _file(objects, top, name, each)) for name, each in below), str(top))
    elif is_media(key):
        yield Problem(str(top), "a recording or a picture: hand in its transcript")
    else:
        yield _file(_Store(store), top, nfc(PurePosixPath(key).name), alone)


class _Place(NamedTuple):
    """Where in which store."""

    scheme: str
    bucket: str
    key: str

    def __str__(self) -> str:
        return storable(f"{self.scheme}://{self.bucket}/{self.key}".rstrip("/"))


def _listed(store: "ObjectStore", key: str) -> "Iterator[ObjectMeta]":
    count = 0
    try:
        for page in obstore.list(store, key or None):
            count += max(1, len(page))
            if count > MAX_OBJECTS:
                raise Unreadable(f"more than {MAX_OBJECTS:,} objects: give folders in it one by one")
            yield from page
    except GenericError:
        # A list that fails does not say why; an object that cannot be had does.
        obstore.head(store, f"{key}/callfold".lstrip("/"))
        raise


def _is_marker(store: "ObjectStore", key: str, listed: "ObjectMeta") -> bool:
    """Whether it only says that there is a folder: its key ends with a slash, which obstore leaves out."""
    return listed["path"] == key or (listed["size"] == 0 and _found(store, listed["path"]) is None)


def _found(store: "ObjectStore", key: str) -> "ObjectMeta | None":
    try:
        return obstore.head(store, key) if key else None
    except FileNotFoundError:
        return None


def _file(store: "_Store", top: _Place, name: str, listed: "ObjectMeta") -> File:
    place = top._replace(key=listed["path"])
    account = PurePosixPath(place.bucket, place.key).parent.name
    return File(name, str(place), nfc(account), lambda: BufferedReader(_Object(store, listed), 65_536))


class _Store:
    """Where objects are had from, until it does not answer: then no other is waited for."""

    def __init__(self, store: "ObjectStore") -> None:
        self._store = store
        self._lost: str | None = None

    def part(self, listed: "ObjectMeta", start: int, end: int) -> memoryview:
        """Some bytes of an object as it was when it was listed. Raises Unreadable."""
        if self._lost:
            raise Unreadable(self._lost)
        options: GetOptions = {"range": (start, end)}
        if listed["e_tag"]:
            options["if_match"] = listed["e_tag"]
        try:
            with _plainly():
                return memoryview(obstore.get(self._store, listed["path"], options=options).bytes())
        except _Unreachable as error:
            self._lost = str(error)
            raise


class _Object(RawIOBase):
    """The bytes of an object as it was when it was listed, a part of it in memory."""

    def __init__(self, store: _Store, listed: "ObjectMeta") -> None:
        self._store, self._listed = store, listed
        self._position = self._start = 0
        self._part = memoryview(b"")

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = SEEK_SET) -> int:
        """Go to a place; what comes from there is asked for when it is read."""
        self._position = offset + {SEEK_SET: 0, SEEK_CUR: self._position, SEEK_END: self._listed["size"]}[whence]
        return self._position

    def readinto(self, buffer: Any) -> int:
        """Fill as much of the buffer as one part holds; 0 at the end. Raises Unreadable."""
        if self._position >= self._listed["size"]:
            return 0
        if not self._start <= self._position < self._start + len(self._part):
            end = min(self._position + _PART, self._listed["size"])
            self._start, self._part = self._position, self._store.part(self._listed, self._position, end)
        piece = self._part[self._position - self._start :][: len(buffer)]
        buffer[: len(piece)] = piece
        self._position += len(piece)
        return len(piece)


class _Unreachable(Unreadable):
    """The store does not answer, or not as a store."""


@contextmanager
def _plainly() -> Iterator[None]:
    """What obstore raises as Unreadable, in words of our own: its messages hold addresses and answers of servers."""
    try:
        yield
    except FileNotFoundError:
        raise Unreadable("there is no such bucket or object: check its name, the region and the endpoint") from None
    except (PermissionDeniedError, UnauthenticatedError):
        raise Unreadable("access is denied: check the credentials in the environment and their rights") from None
    except PreconditionError:
        raise Unreadable("it was changed while the batch was read: start again") from None
    except InvalidPathError:
        raise Unreadable("an object has an empty part, . or .. in its name: rename it") from None
    except (BaseError, ValueError, OSError):
        raise _Unreachable("the store cannot be reached: check endpoint, region, credentials and network") from None
