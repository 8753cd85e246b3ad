"""One call as a table, a turn on each line: `Speaker,Start,Text`, as transcription tools export it beside documents.

Times are clock times or seconds. Whisper's own table (start, end and text, between tabs) has milliseconds.
"""

import csv
import re
from collections.abc import Iterator
from io import StringIO
from typing import Any

from pipeline.domain.documents import Turn
from pipeline.errors import ItemFailure
from pipeline.transcripts.answers import CALL_IDS, require_one
from pipeline.transcripts.moments import ClockTime
from pipeline.transcripts.source import Parsed, Source, bounded
from pipeline.transcripts.vendor import Label, Milliseconds, Shape, Words, read_as, turn

NAME = "csv_turns"

#: What columns are called, in any case.
_FIELDS = {
    **dict.fromkeys(("speaker", "speaker name", "participant", "name", "who", "speaker id"), "speaker"),
    **dict.fromkeys(("start", "start time", "begin", "from", "in", "time", "timestamp"), "start"),
    **dict.fromkeys(("end", "end time", "to", "out"), "end"),
    **dict.fromkeys(("start ms", "startms", "start time ms"), "start_ms"),
    **dict.fromkeys(("end ms", "endms", "end time ms"), "end_ms"),
    **dict.fromkeys(
        ("text", "words", "message", "dialogue", "utterance", "sentence", "content", "transcript", "transcription"),
        "text",
    ),
}
_DELIMITERS = (",", ";", "\t", "|")
#: What a table in Markdown has around its cells, and below its header.
_PADDING = re.compile(r"(?<![ \t])[ \t]*\|[ \t]*")
_RULE = frozenset("-: ")
_WHISPER = "start\tend\ttext"


class _Row(Shape):
    speaker: Label = None
    start: ClockTime = None
    end: ClockTime = None
    start_ms: Milliseconds = None
    end_ms: Milliseconds = None
    text: Words = ""

    def turn(self) -> Turn:
        """The same as a turn."""
        start = self.start_ms if self.start is None else self.start
        return turn(self.text, self.speaker, start, self.end_ms if self.end is None else self.end)


class _Table(Shape):
    rows: list[_Row]


def recognises(source: Source) -> bool:
    """Whether the first line names a column of words, and one of speakers or times, and the others fill the first."""
    return is_table(source.top)


def is_table(text: str) -> bool:
    """The same of a text's beginning."""
    if not _has_header(text):
        return False
    place = _columns(_header(text)).index("text")
    header, *records = csv.reader(StringIO(text.strip()), delimiter=_delimiter(_header(text)))
    words = [cells[place] for cells in records if len(cells) > place]
    return 2 * len(words) >= len(records) and not _are_calls(header[place], words)


def _are_calls(column: str, words: list[str]) -> bool:
    """Whether each cell is a whole call: a transcript of several lines is no turn, and several are no call."""
    return column.strip().casefold().startswith("transcript") and any("\n" in cell.strip() for cell in words)


def _has_header(text: str) -> bool:
    columns = [column for column in _columns(_header(text)) if column]
    return (
        "text" in columns
        and len(set(columns)) == len(columns)
        and not {"speaker", "start", "start_ms"}.isdisjoint(columns)
    )


def parse(source: Source) -> Parsed:
    """One turn for each line. Raises ItemFailure(unreadable_input): cells or quotes do not fit, it is several calls."""
    rows = list(bounded(_rows(source.text)))
    require_one(row["call"] for row in rows if "call" in row)
    table, doubts = read_as(_Table, {"rows": rows}, "a table of turns")
    return Parsed([row.turn() for row in table.rows], doubts)


def _rows(text: str) -> Iterator[dict[str, Any]]:
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    delimiter = _delimiter(_header(text))
    lines = StringIO(_PADDING.sub("|", text.strip()) if delimiter == "|" else text.strip())
    records = csv.reader(lines, delimiter=delimiter, strict=True)
    columns = _columns(_header(text))
    nameless = [place for place, name in enumerate(_names(_header(text))) if not name]
    try:
        next(records)
        for cells in records:
            beyond = [*cells[len(columns) :], *(cells[place] for place in nameless if place < len(cells))]
            short = len(cells) <= columns.index("text") and any(cell.strip() for cell in cells)
            if short or any(cell.strip() for cell in beyond):
                raise _misfit(records.line_num)
            if not _RULE.issuperset("".join(cells)):
                yield {column: cell for column, cell in zip(columns, cells, strict=False) if column and cell.strip()}
    except csv.Error:
        raise _misfit(records.line_num) from None


def _header(text: str) -> str:
    return text.lstrip().partition("\n")[0].strip().casefold()


def _delimiter(header: str) -> str:
    return max(_DELIMITERS, key=header.count)


def _names(header: str) -> list[str]:
    return [cell.strip(' "').replace("_", " ") for cell in header.split(_delimiter(header))]


def _columns(header: str) -> list[str | None]:
    """The field that each column is, None for those that are none of a turn's."""
    if header == _WHISPER:
        return ["start_ms", "end_ms", "text"]
    return [_FIELDS.get(name) or ("call" if name.replace(" ", "") in CALL_IDS else None) for name in _names(header)]


def _misfit(line: int) -> ItemFailure:
    detail = f"a table whose line {line} has too many cells or too few, or a quote out of place: export it again"
    return ItemFailure("unreadable_input", detail)
