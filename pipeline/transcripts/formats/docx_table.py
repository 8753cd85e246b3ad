"""A Word document whose speech stands in a table with a heading row: Speaker | Content, with or without times.

Whatever else the document holds (charts of sentiment, detected issues) is somebody's analysis, not speech.
Source: Amazon's converter of Transcribe output to Word, whose times count hundredths: `0:00:06.31`, and `.4` for 0.04.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from pipeline.domain.documents import Turn, Warning
from pipeline.transcripts import dialogue
from pipeline.transcripts.docx import Table
from pipeline.transcripts.omissions import unreadable_times
from pipeline.transcripts.source import Parsed, Source, bounded
from pipeline.transcripts.vendor import turn

NAME = "docx_table"

_SPEAKER = frozenset({"speaker", "speaker name", "name", "participant", "who"})
_CONTENT = frozenset({"content", "text", "transcript", "transcription", "utterance", "speech", "dialogue", "words"})
_START = frozenset({"start", "start time", "time", "timestamp", "time stamp", "timecode", "begin"})
_END = frozenset({"end", "end time"})
_DURATION = frozenset({"dur", "duration"})
_TIME = re.compile(r"(?:([0-9]{1,3}):)?([0-9]{1,3}):([0-9]{1,2})(?:[.,]([0-9]{1,6}))?")
_LENGTH = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,6})?)s?")


class _Columns(NamedTuple):
    """Which column of a table holds what; None where none does."""

    content: int
    speaker: int | None
    start: int | None
    end: int | None
    duration: int | None


class _Row(NamedTuple):
    """What one row says, each part without the blanks around it."""

    content: str
    speaker: str
    start: str
    end: str
    duration: str

    def turn(self) -> Turn:
        """The same as a turn; an end that is not told is as far from the start as the turn is long."""
        start, end, length = _seconds(self.start), _seconds(self.end), _LENGTH.fullmatch(self.duration)
        if end is None and start is not None and length is not None:
            end = round(start + float(length[1]), 6)
        return turn(self.content, self.speaker or None, start, end)


def recognises(source: Source) -> bool:
    """Whether tables have a column for the words, one for the speaker or the time, and are most of what is spoken."""
    if source.docx is None:
        return False
    rows = sum(len(table.rows) - 1 for table in source.docx.tables if _columns(table))
    return rows >= max(1, len(dialogue.named_lines(_paragraphs(source.docx.blocks))))


def parse(source: Source) -> Parsed:
    """One turn for each row of such tables, in their order."""
    blocks = source.docx.blocks if source.docx else []
    tables = list(_tables(blocks))
    rows = list(bounded(row for table in tables for row in table.rows()))
    times = [time for row in rows for time in (row.start, row.end) if time]
    spoken = [table.rows_of for table in tables]
    left_out = sum(1 for block in blocks if not any(block is each for each in spoken) and _holds_anything(block))
    return Parsed([row.turn() for row in rows], tuple(_doubts(sum(_seconds(time) is None for time in times), left_out)))


def _paragraphs(blocks: list[str | Table]) -> str:
    return "\n".join(block for block in blocks if isinstance(block, str))


def _doubts(unread: int, left_out: int) -> Iterator[Warning]:
    yield from unreadable_times(unread)
    if left_out:
        yield Warning(code="notes_left_out", place=f"{left_out} paragraphs and tables")


class _Speech(NamedTuple):
    """A table of speech, which columns it has, and how many rows of headings."""

    rows_of: Table
    columns: _Columns
    headings: int

    def rows(self) -> Iterator[_Row]:
        """Those in which anything stands."""
        for cells in self.rows_of.rows[self.headings :]:
            row = _Row(*(_cell(cells, column) for column in self.columns))
            if any(row):
                yield row

    def goes_on_in(self, table: Table) -> bool:
        """Whether a table without headings is this one, cut by a page: as wide, with one of its speakers or a time."""
        if not table.rows or len(table.rows[0]) != len(self.rows_of.rows[0]):
            return False
        first = _Row(*(_cell(table.rows[0], column) for column in self.columns))
        known = {row.speaker for row in self.rows()}
        return bool(first.content) and (first.speaker in known or _seconds(first.start) is not None)


def _tables(blocks: list[str | Table]) -> Iterator[_Speech]:
    """Those of speech, and what goes on of them without headings."""
    headed = last = None
    for block in blocks:
        if isinstance(block, str):
            continue
        if (columns := _columns(block)) is not None:
            headed = last = _Speech(block, columns, 1)
            yield last
        elif headed is not None and last is not None and (headed.goes_on_in(block) or last.goes_on_in(block)):
            last = _Speech(block, headed.columns, 0)
            yield last


def _columns(table: Table) -> _Columns | None:
    headings = [_heading(cell) for cell in table.rows[0]] if table.rows else []
    content, speaker, start = (_place(headings, names) for names in (_CONTENT, _SPEAKER, _START))
    if content is None or (speaker is None and start is None):
        return None
    return _Columns(content, speaker, start, _place(headings, _END), _place(headings, _DURATION))


def _heading(cell: str) -> str:
    return cell[:40].casefold().strip(" \t\n:.*")


def _place(headings: list[str], names: frozenset[str]) -> int | None:
    return next((place for place, heading in enumerate(headings) if heading in names), None)


def _cell(cells: tuple[str, ...], column: int | None) -> str:
    return "" if column is None or column >= len(cells) else cells[column].strip()


def _seconds(time: str) -> float | None:
    parts = _TIME.fullmatch(time)
    if parts is None:
        return None
    hours, minutes, whole, fraction = parts.groups()
    return round(int(hours or 0) * 3600 + int(minutes) * 60 + int(whole) + _fraction(fraction or "0"), 6)


def _fraction(digits: str) -> float:
    return int(digits) / (100 if len(digits) <= 2 else 10 ** len(digits))


def _holds_anything(block: str | Table) -> bool:
    return bool(block.strip()) if isinstance(block, str) else any(cell.strip() for row in block.rows for cell in row)
