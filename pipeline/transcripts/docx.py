"""A Word document (.docx) -> its paragraphs and tables, in bounded time and memory.

Nothing that the file says about its own size is believed. No DTD is read, so that no entity can expand; no tree is
built; what was deleted, field codes, and the second copy that old versions of Word fall back to are no text.
"""

import io
import re
import zipfile
import zlib
from functools import lru_cache
from typing import NamedTuple

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import ParseError, XMLParser

from pipeline.errors import ItemFailure

#: Bytes of XML. A day of speech, each word in a run of its own, has about thirty million.
MAX_XML = 64 * 1024 * 1024
MAX_ELEMENTS = 2_000_000
MAX_DEPTH = 256
#: Of one element; Word writes some dozens. The parser's time grows with their square.
MAX_ATTRIBUTES = 10_000
#: Files in the archive; a plain document has about fifteen, one with pictures some hundreds.
MAX_PARTS = 10_000

_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_PART = b"PK\x01\x02"
#: The container of old Word documents, and of new ones with a password.
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_DOCUMENT = "word/document.xml"
#: bzip2 and LZMA, which Word never writes, would be unpacked without a bound.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)

_WORD = (
    "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}",
    "{http://purl.oclc.org/ooxml/wordprocessingml/main}",
)
_SKIPPED = frozenset({"del", "moveFrom", "Fallback"})
#: To the next element: a text is a part of it.
_LONG_ELEMENT = re.compile(rb"<[^<]{50000,}")
_SPAN = re.compile(r"[1-9]|[1-5][0-9]|6[0-3]")
_CHARACTERS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "\u2011"}


class Table(NamedTuple):
    """Rows of cells; the paragraphs of a cell are joined by line feeds."""

    rows: list[tuple[str, ...]]


class Docx(NamedTuple):
    """Paragraphs, as text with tabs and line feeds, and tables in the order in which they stand."""

    blocks: list[str | Table]

    @property
    def tables(self) -> list[Table]:
        """The tables alone."""
        return [block for block in self.blocks if isinstance(block, Table)]

    @property
    def text(self) -> str:
        """A line for each paragraph and for each row of a table, its cells apart by tabs."""
        return "\n".join(line for block in self.blocks for line in _lines(block))


def read_docx(data: bytes) -> Docx | None:
    """The document's paragraphs and tables; None where the bytes are neither an archive nor Word's old container.

    Raises ItemFailure(unreadable_input): another archive, broken, encrypted, an entity in it, larger than any call.
    """
    if data.startswith(_OLE):
        raise _unreadable("an old Word document or one with a password", "save it as .docx without a password")
    if not data.startswith(_ZIP):
        return None
    body = _Body()
    try:
        parser = XMLParser(target=body, forbid_dtd=True)
        xml = _xml(data)
        _check_attributes(xml)
        parser.feed(xml)
        parser.close()
    except DefusedXmlException:
        raise _unreadable("a Word document that declares entities", "save it again with Word") from None
    except (ParseError, ValueError, LookupError):
        raise _broken() from None
    return Docx(body.blocks)


def _xml(data: bytes) -> bytes:
    """The document itself out of the archive, all of it at once: fed in pieces, one long token costs its square."""
    if data.count(_PART) > MAX_PARTS:
        raise _unreadable(f"an archive of more than {MAX_PARTS:,} files", "submit one call per document")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _document(archive)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError):
        raise _broken() from None


def _document(archive: zipfile.ZipFile) -> bytes:
    if _DOCUMENT not in archive.namelist():
        raise _unreadable("an archive without a Word document in it", "export the call as .docx, .vtt, .srt or .txt")
    part = archive.getinfo(_DOCUMENT)
    if part.flag_bits & 1:
        raise _unreadable("an encrypted archive", "save the document without a password")
    if part.compress_type not in _METHODS:
        raise _broken()
    with archive.open(part) as stream:
        xml = stream.read(MAX_XML + 1)
    if len(xml) > MAX_XML:
        raise _too_large()
    return xml


def _check_attributes(xml: bytes) -> None:
    """Raises ItemFailure where an element may have too many attributes: only very long ones are looked at."""
    for element in _LONG_ELEMENT.finditer(xml):
        if element[0].count(b"=") > MAX_ATTRIBUTES:
            raise _broken()


class _Body:
    """Takes the document's elements one after the other and keeps the text.

    Only the outermost tables are tables, and only the outermost paragraphs are paragraphs: what is nested in a cell
    or in a text box is a part of it.
    """

    def __init__(self) -> None:
        self.blocks: list[str | Table] = []
        self._elements = 0
        self._open: list[str] = []
        self._skipping = 0
        self._tables = self._paragraphs = 0
        self._words: list[str] = []
        self._rows: list[tuple[str, ...]] = []
        self._cells: list[str] = []
        self._span = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """An element opens."""
        name = _name(tag)
        self._open.append(name)
        self._count(1)
        if self._skipping or name in _SKIPPED:
            self._skipping += 1
        elif name == "p":
            self._paragraphs += 1
        elif name == "tbl":
            self._tables += 1
        elif name == "gridSpan" and self._tables == 1:
            self._span = _columns(attributes)
            self._count(self._span)
        elif name in _CHARACTERS and self._open[-2:-1] == ["r"]:
            self._words.append(_CHARACTERS[name])

    def data(self, text: str) -> None:
        """Text between two tags: only what stands in `w:t` was written by somebody."""
        if self._open and self._open[-1] == "t" and not self._skipping:
            self._words.append(text)

    def end(self, _tag: str) -> None:
        """The element that opened last closes."""
        name = self._open.pop()
        if self._skipping:
            self._skipping -= 1
        elif name == "p":
            self._end_paragraph()
        elif name == "tbl":
            self._tables -= 1
            if not self._tables:
                self.blocks.append(Table(self._rows))
                self._rows = []
        elif self._tables == 1 and name == "tc":
            self._end_cell()
        elif self._tables == 1 and name == "tr":
            self._rows.append(tuple(self._cells))
            self._cells = []

    def close(self) -> None:
        """All elements are closed."""

    def _count(self, elements: int) -> None:
        self._elements += elements
        if self._elements > MAX_ELEMENTS:
            raise _too_large()
        if len(self._open) > MAX_DEPTH:
            raise _unreadable("a Word document that is nested too deeply", "save it again with Word")

    def _end_paragraph(self) -> None:
        self._paragraphs -= 1
        if self._tables or self._paragraphs:
            self._words.append("\n")
        else:
            self.blocks.append(self._said())

    def _end_cell(self) -> None:
        self._cells.append(self._said().removesuffix("\n"))
        self._cells.extend([""] * (self._span - 1))
        self._span = 0

    def _said(self) -> str:
        text = "".join(self._words)
        self._words.clear()
        return text


@lru_cache(maxsize=1024)
def _name(tag: str) -> str:
    """An element's name where it is Word's own or the fallback's; text of formulas and drawings is none of ours."""
    space, _, name = tag.rpartition("}")
    return name if name == "Fallback" or f"{space}}}" in _WORD else ""


def _columns(attributes: dict[str, str]) -> int:
    """Over how many columns a cell reaches: Word has at most 63."""
    given = next(iter(attributes.values()), "")
    return int(given) if _SPAN.fullmatch(given) else 1


def _lines(block: str | Table) -> list[str]:
    return [block] if isinstance(block, str) else ["\t".join(row) for row in block.rows]


def _broken() -> ItemFailure:
    return _unreadable("a broken archive or Word document", "save it again with Word")


def _too_large() -> ItemFailure:
    return _unreadable("a Word document that is larger than any call", "submit one call per document")


def _unreadable(what: str, remedy: str) -> ItemFailure:
    return ItemFailure("unreadable_input", f"{what}: {remedy}")
