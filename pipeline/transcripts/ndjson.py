"""Files with one DocumentInput on each line.

Lines end at the byte 0x0A and nowhere else: U+2028, U+2029 and U+0085 are legal inside a JSON string.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Never

from pydantic import ValidationError

from pipeline.domain.documents import DocumentInput
from pipeline.errors import Problem
from pipeline.transcripts import shape
from pipeline.transcripts.read import MAX_BYTES

#: Escapes make a line longer than the transcript in it.
MAX_LINE = 2 * MAX_BYTES
_BOM = b"\xef\xbb\xbf"


def documents(path: Path, place: str) -> Iterator[tuple[DocumentInput, str] | Problem]:
    """Each line's document with its place (`place:line`), or the Problems of that line. Blank lines are ignored.

    Raises OSError where the file cannot be read.
    """
    with path.open("rb") as file:
        for number, line in enumerate(_lines(file), start=1):
            yield from _document(line, f"{place}:{number}")


def _lines(file: BinaryIO) -> Iterator[bytes | None]:
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


def _document(line: bytes | None, place: str) -> Iterator[tuple[DocumentInput, str] | Problem]:
    if line is None:
        yield Problem(place, f"longer than {MAX_LINE // 1024**2} MiB: submit one call per line")
        return
    if not line.strip():
        return
    try:
        yield DocumentInput.model_validate(_value(line)), place
    except ValidationError as error:
        yield from shape.problems(error, place)
    except UnicodeDecodeError as error:
        yield Problem(place, f"not UTF-8 at byte {error.start + 1}: save the file as UTF-8")
    except json.JSONDecodeError as error:
        yield Problem(place, f"not valid JSON at column {error.colno}: write one object on each line")
    except _NotJsonError as error:
        yield Problem(place, f"{error} is not JSON: write null, or leave the field out")
    except (ValueError, RecursionError):
        yield Problem(place, "not a document: a number is too long or the nesting too deep")


class _NotJsonError(Exception):
    """NaN and the infinities, which Python reads and no database takes."""


def _value(line: bytes) -> object:
    return json.loads(line.rstrip(b"\r\n").decode("utf-8"), parse_constant=_refuse)


def _refuse(constant: str) -> Never:
    raise _NotJsonError(constant)
