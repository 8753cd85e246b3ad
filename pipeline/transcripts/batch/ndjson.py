"""Files with one DocumentInput on each line.

Lines end at the byte 0x0A and nowhere else: U+2028, U+2029 and U+0085 are legal inside a JSON string.
"""

import json
from collections.abc import Iterator
from typing import Never

from pydantic import ValidationError

from pipeline.domain.documents import DocumentInput
from pipeline.errors import Problem
from pipeline.transcripts import shape
from pipeline.transcripts.batch.file import Given, Stream
from pipeline.transcripts.read import MAX_BYTES

#: Escapes make a line longer than the transcript in it.
MAX_LINE = 2 * MAX_BYTES
#: An object with more is none of ours, and is not searched for each fault.
_MOST_FIELDS = 100
_BOM = b"\xef\xbb\xbf"
_NEEDED = (b'"document_id"', b'"transcript"', b'"turns"')


def is_in(stream: Stream) -> bool:
    """Whether the first line that is not blank is an object with a `document_id`."""
    line = next((line for line in _lines(stream) if line is None or line.strip()), None)
    if line is None or not line.lstrip().startswith(b"{") or b'"document_id"' not in line:
        return False
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return "document_id" in value


def is_meant(head: bytes) -> bool:
    """Whether lines under such a name are documents, be they wrong ones: their top names an id or words, or nothing."""
    text = head.replace(b"\x00", b"")  # in UTF-16, which is refused
    return not text.strip() or any(name in text for name in _NEEDED)


def documents(stream: Stream, place: str) -> Iterator[Given | Problem]:
    """Each line's document with its place (`place:line`), or the Problems of that line. Blank lines are ignored."""
    for number, line in enumerate(_lines(stream), start=1):
        if line is None:
            yield Problem(f"{place}:{number}", f"longer than {MAX_LINE // 1024**2} MiB: submit one call per line")
        elif line.strip():
            yield from _document(line.rstrip(b"\r\n"), f"{place}:{number}")


def checked(value: object, place: str) -> Iterator[Given | Problem]:
    """The document that a JSON value is, or what is wrong with it."""
    if isinstance(value, dict) and len(value) > _MOST_FIELDS:
        yield Problem(place, f"{len(value):,} fields: a document has no more than {len(DocumentInput.model_fields)}")
        return
    try:
        yield Given(DocumentInput.model_validate(value), place)
    except ValidationError as error:
        yield from shape.problems(error, place)


class NotJsonError(Exception):
    """NaN and the infinities, which Python reads and no database takes."""


def strict(text: str) -> object:
    """The value of JSON as it is defined. Raises ValueError, RecursionError, NotJsonError."""
    return json.loads(text, parse_constant=_refuse)


def _refuse(constant: str) -> Never:
    raise NotJsonError(f"{constant} is not JSON: write null, or leave the field out")


def _lines(file: Stream) -> Iterator[bytes | None]:
    """The lines, one in memory at a time; None stands for a line that is too long."""
    mark = file.read(len(_BOM))
    if mark != _BOM:
        file.seek(0)
    while line := file.readline(MAX_LINE):
        if len(line) < MAX_LINE:
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = file.readline(MAX_LINE)
        yield None


def _document(line: bytes, place: str) -> Iterator[Given | Problem]:
    try:
        value = strict(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        yield Problem(place, f"not UTF-8 at byte {error.start + 1}: save the file as UTF-8")
    except json.JSONDecodeError as error:
        yield Problem(place, f"not valid JSON at column {error.colno}: write one object on each line")
    except NotJsonError as error:
        yield Problem(place, str(error))
    except (ValueError, RecursionError):
        yield Problem(place, "not a document: a number is too long or the nesting too deep")
    else:
        yield from checked(value, place)
