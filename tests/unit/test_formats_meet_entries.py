import json

import pytest

from pipeline.errors import ItemFailure
from pipeline.transcripts import source
from pipeline.transcripts.read import read

ANNA, BEN = "conferenceRecords/c/participants/1", "conferenceRecords/c/participants/2"


def entry(participant, text, start, end=None):
    return {
        "name": "conferenceRecords/c/transcripts/t/entries/e",
        "participant": participant,
        "text": text,
        "languageCode": "en-US",
        "startTime": start,
        "endTime": end,
    }


ENTRIES = [
    entry(ANNA, "Hello, all.", "2026-11-30T10:00:00.250000001Z", "2026-11-30T10:00:02Z"),
    entry(BEN, "Hi, Anna.", "2026-11-30T11:00:03+01:00"),
    entry(ANNA, "Ready?", None),
    entry("Guest", "Yes.", "2026-11-30T10:01:00Z"),
]


def lines(reading):
    return [(turn.speaker, turn.start, turn.end, turn.text) for turn in reading.transcript.turns]


def test_participants_are_counted_and_times_start_with_the_first_entry():
    assert lines(read(json.dumps({"transcriptEntries": ENTRIES}).encode())) == [
        ("Speaker 1", 0.0, 1.75, "Hello, all."),
        ("Speaker 2", 2.75, None, "Hi, Anna."),
        ("Speaker 1", None, None, "Ready?"),
        ("Guest", 59.75, None, "Yes."),
    ]


def test_a_page_that_is_not_the_last_is_said_to_be_incomplete():
    reading = read(json.dumps({"transcriptEntries": ENTRIES[:2], "nextPageToken": "more"}).encode())
    assert [(warning.code, warning.place) for warning in reading.warnings if "speakers" not in warning.code] == [
        ("pages_missing", "turn 2")
    ]


def test_more_entries_than_any_call_has_are_refused(monkeypatch):
    monkeypatch.setattr(source, "MAX_TURNS", 3)
    with pytest.raises(ItemFailure, match="unreadable_input: more than 3 turns"):
        read(json.dumps({"transcriptEntries": ENTRIES}).encode())
