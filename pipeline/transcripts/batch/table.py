"""Tables of documents: CSV with a header, as spreadsheets and databases export it, one record in memory at a time.

A column is a field of DocumentInput, in any case, with spaces or hyphens for underscores. The delimiter is the one that
parts the header: in a transcript all of them occur.
"""

import codecs
import csv
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from io import TextIOWrapper
from itertools import chain
from typing import Final

from pydantic import ValidationError

from pipeline.domain.documents import DocumentFields, DocumentInput, Warning
from pipeline.errors import ItemFailure, Problem
from pipeline.transcripts import shape
from pipeline.transcripts.batch.file import Given, Stream
from pipeline.transcripts.decoding import decode
from pipeline.transcripts.formats import csv_turns
from pipeline.transcripts.read import MAX_BYTES

#: In characters: the csv module takes four bytes for each, and ten hours of speech have a million.
MAX_RECORD: Final = MAX_BYTES // 4
_CHUNK: Final = 65_536
_DELIMITERS: Final = (",", ";", "\t")
_FIELDS: Final = frozenset({*DocumentFields.model_fields, "transcript"})
_NEEDED: Final = ("document_id", "transcript")
#: What others call a field.
_SYNONYMS: Final = {"call_id": "document_id", "account": "account_id", "owner": "owner_hint"}


def is_in(head: bytes) -> bool:
    """Whether the first line names the columns that every document needs."""
    if b"transcript" not in head.replace(b"\x00", b"").lower():
        return False
    return set(_names_in(_text_of(head))).issuperset(_NEEDED)


def is_meant(head: bytes) -> bool:
    """Whether a table is one of documents, be it a wrong one: the first line names one of these columns, or nothing."""
    return not head.strip() or not set(_NEEDED).isdisjoint(_names_in(_text_of(head)))


def is_one_call(head: bytes) -> bool:
    """Whether its lines are the turns of one call, and no documents."""
    text = "\n".join(_text_of(head).splitlines())
    return csv_turns.is_table(text) and "document_id" not in _names_in(text)


def _text_of(head: bytes) -> str:
    try:
        return decode(head).text
    except ItemFailure:  # which is said where the table is read
        return ""


def _names_in(text: str) -> list[str]:
    first = text.lstrip().partition("\n")[0]
    return _names(first.split(_delimiter(first)))


def documents(stream: Stream, place: str, account: str) -> Iterator[Given | Problem]:
    """Each record's document with its place (`place:line`), or its Problems; records of empty cells are dropped.

    `account` is that of all where the table has no such column.
    """
    csv.field_size_limit(MAX_RECORD)
    try:
        encoding = _encoding(stream)
    except ItemFailure as failure:
        yield Problem(place, failure.detail)
        return
    text = TextIOWrapper(stream, encoding, errors="replace", newline="")
    lines = _Lines(text)
    try:
        yield from _documents(lines, place, account, encoding)
    except csv.Error:
        message = f"a quote is not closed or out of place, or a cell is longer than {MAX_RECORD:,} characters"
        yield Problem(f"{place}:{lines.record}", f"{message}: export the table again")
    finally:
        text.detach()


class _Lines:
    """The lines of a text; csv.Error where those of one record are too long together."""

    def __init__(self, text: TextIOWrapper) -> None:
        self._text = text
        self._number = 0
        self.begin()

    def begin(self) -> None:
        """The next line begins a record."""
        self.record = self._number + 1
        self._left = MAX_RECORD

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._text.readline(self._left + 1)
        if not line:
            raise StopIteration
        self._left -= len(line)
        if self._left < 0:
            raise csv.Error
        self._number += 1
        return line


def _documents(lines: _Lines, place: str, account: str, encoding: str) -> Iterator[Given | Problem]:
    first = _first_line(lines)
    records = csv.reader(chain([first], lines), delimiter=_delimiter(first), strict=True)
    columns = _names(next(records))
    wrong = list(_header_problems(columns, f"{place}:{lines.record}"))
    if wrong:
        yield from wrong
        return
    default = {} if "account_id" in columns else {"account_id": account}
    for cells in _each(records, lines):
        if any(cell.strip() for cell in cells):
            yield from _document(columns, cells, default, f"{place}:{lines.record}", encoding)


def _first_line(lines: _Lines) -> str:
    """The first that is not blank, without a byte order mark; empty where there is none."""
    for line in lines:
        if text := line.removeprefix("\ufeff").strip("\r\n"):
            return text + "\n"
        lines.begin()
    return ""


def _each(records: Iterator[list[str]], lines: _Lines) -> Iterator[list[str]]:
    lines.begin()
    for cells in records:
        yield cells
        lines.begin()


def _delimiter(header: str) -> str:
    return max(_DELIMITERS, key=lambda delimiter: len(_FIELDS.intersection(_names(header.split(delimiter)))))


def _names(header: Sequence[str]) -> list[str]:
    """The fields that the columns of a header are, without the nameless ones at its end."""
    names = [cell.strip(' \t\r\n"\ufeff').casefold().replace(" ", "_").replace("-", "_") for cell in header]
    while names and not names[-1]:
        names.pop()
    return [_SYNONYMS.get(name, name) for name in names]


def _header_problems(columns: Sequence[str], place: str) -> Iterator[Problem]:
    for number, name in enumerate(columns, start=1):
        if name not in _FIELDS:
            # Its name stays out: in a table without a header it is what somebody said.
            known = ", ".join(sorted(_FIELDS))
            yield Problem(f"{place} column {number}", f"unknown column: leave it out; known are {known}")
    for name in _NEEDED:
        if name not in columns:
            yield Problem(place, f"no column {name}: the first line names the columns")
    for name, times in Counter(columns).items():
        if times > 1 and name in _FIELDS:
            yield Problem(place, f"{times} columns {name}: leave one")


def _document(
    columns: Sequence[str], cells: Sequence[str], default: Mapping[str, str], place: str, encoding: str
) -> Iterator[Given | Problem]:
    if any(cell.strip() for cell in cells[len(columns) :]):
        yield Problem(place, f"{len(cells)} cells under {len(columns)} columns: quote cells with the delimiter in them")
        return
    filled = {name: cell for name, cell in zip(columns, cells, strict=False) if cell.strip()}
    try:
        document = DocumentInput.model_validate({"transcript": "", **default, **filled})
    except ValidationError as error:
        yield from shape.problems(error, place)
    else:
        yield Given(document, place, _doubts(filled, encoding))


def _doubts(filled: Mapping[str, str], encoding: str) -> tuple[Warning, ...]:
    text = "".join(filled.values())
    lossy = "\ufffd" in text if encoding.startswith("utf") else not text.isascii()
    return (Warning(code="lossy_decoding", place=encoding),) if lossy else ()


def _encoding(stream: Stream) -> str:
    """As `decoding` finds it, at the first place where it shows. Raises ItemFailure where the table is not text."""
    encoding = decode(_whole_lines(stream.read(_CHUNK))).encoding
    stream.seek(0)
    if encoding == "utf-8":
        encoding = _as_utf8(stream)
        stream.seek(0)
    return encoding


def _as_utf8(stream: Stream) -> str:
    decoder, is_wide = codecs.getincrementaldecoder("utf-8")(), False
    while chunk := stream.read(_CHUNK):
        try:
            decoder.decode(chunk)
        except UnicodeDecodeError:
            return "utf-8" if is_wide else decode(_whole_lines(chunk)).encoding
        is_wide = is_wide or not chunk.isascii()
    return "utf-8"


def _whole_lines(chunk: bytes) -> bytes:
    return chunk[: chunk.rfind(b"\n") + 1] or chunk
