"""Transcript entries of Google Meet's REST API. Times are dates, counted here from the first entry's start.

Source: developers.google.com/meet/api, conferenceRecords.transcripts.entries. A participant is an id.
"""

from pydantic import Field

from pipeline.domain.documents import Warning
from pipeline.transcripts.moments import Date, elapsed
from pipeline.transcripts.source import Parsed, Source
from pipeline.transcripts.vendor import Label, Many, Shape, Words, read_as, turn

NAME = "meet_entries"


class _Entry(Shape):
    participant: Label = None
    text: Words = ""
    start: Date = Field(None, alias="startTime")
    end: Date = Field(None, alias="endTime")


class _Page(Shape):
    entries: Many[_Entry] = Field((), alias="transcriptEntries")


def recognises(source: Source) -> bool:
    """Whether there is a list of transcript entries."""
    return isinstance(source.at("transcriptEntries"), list)


def parse(source: Source) -> Parsed:
    """A turn for each entry. Where more of them stand on another page, a warning says so."""
    page, doubts = read_as(_Page, source.json, "Google Meet")
    dates = [date for entry in page.entries for date in (entry.start, entry.end)]
    times, late = elapsed(dates, "startTime")
    found = [
        turn(entry.text, entry.participant, start, end)
        for entry, start, end in zip(page.entries, times[0::2], times[1::2], strict=True)
    ]
    more = (Warning(code="pages_missing", place=f"turn {len(found)}"),) if source.at("nextPageToken") else ()
    return Parsed(found, (*doubts, *late, *more))
