"""A file to read, wherever it lies: on a disk, in an archive, in a bucket."""

from collections.abc import Callable
from dataclasses import dataclass
from io import BufferedReader
from tempfile import SpooledTemporaryFile
from typing import NamedTuple

from pipeline.domain.documents import DocumentInput, Warning
from pipeline.errors import Problem

#: An open file, which can be read again from its start.
Stream = BufferedReader | SpooledTemporaryFile[bytes]


@dataclass(frozen=True, slots=True)
class File:
    """Where a file is and how to read it; nothing is open yet."""

    #: Its path below what was given, with slashes, in NFC: the id of the document in it.
    name: str
    #: Where it is, for messages.
    place: str
    #: The name of the folder that it lies in: the account of the document in it.
    folder: str
    #: Opens it. Raises OSError or Unreadable, as reading them may.
    opens: Callable[[], Stream]


#: What a path stands for: files to read, and what is wrong with the others.
Found = File | Problem


class Unreadable(Exception):
    """The bytes of a file cannot be had; str(error) says why and what to do."""


class Given(NamedTuple):
    """A document as a file of documents gives it, and its place there."""

    document: DocumentInput
    place: str
    warnings: tuple[Warning, ...] = ()
