"""What a file is, by its content: one transcript, a file of documents, an archive."""

import re
from typing import Final, Literal

from pipeline.transcripts.batch import archive, ndjson, objects, table
from pipeline.transcripts.batch.file import Stream

Kind = Literal["transcript", "lines", "objects", "table", "other table", "archive", "other archive"]

_HEAD: Final = 65_536
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_OTHERS = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd", b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07")
#: Where a tar archive says that it is one.
_TAR = slice(257, 262)
_JSON = re.compile(rb"(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?[\s\x00]{0,1000}[{\[]")


def kind_of(stream: Stream, name: str) -> Kind:
    """Read as much of the stream as it takes to tell, and leave it at its start.

    `.ndjson`, `.jsonl`, `.csv` and `.tsv` are believed where they name a document's id or words, so that what is wrong
    in such a file is said of its lines; a table that does not is one call's turns, or a stray.
    """
    head = stream.read(_HEAD)
    stream.seek(0)
    kind = _kind(head, stream, name.lower())
    stream.seek(0)
    return kind


def _kind(head: bytes, stream: Stream, name: str) -> Kind:
    if head.startswith(_ZIP):
        return "archive" if archive.is_in(stream, name) else "transcript"
    if head.startswith(_OTHERS) or head[_TAR] == b"ustar":
        return "other archive"
    if name.endswith((".ndjson", ".jsonl")) and ndjson.is_meant(head):
        return "lines"
    if name.endswith((".csv", ".tsv")):
        return _kind_of_table(head)
    if _JSON.match(head):
        return _kind_of_json(stream)
    return "table" if table.is_in(head) else "transcript"


def _kind_of_table(head: bytes) -> Kind:
    if table.is_one_call(head):
        return "transcript"
    return "table" if table.is_meant(head) else "other table"


def _kind_of_json(stream: Stream) -> Kind:
    if ndjson.is_in(stream):
        return "lines"
    stream.seek(0)
    return "objects" if objects.is_in(stream) else "transcript"
