import json

import pytest

from pipeline.errors import ItemFailure
from pipeline.transcripts.read import read


def message(text, created_at, persona="human"):
    return {"persona": persona, "content": text, "created_at": created_at, "tool_calls": [{"content": "noted"}]}


def call(*messages, **fields):
    return json.dumps({"messages": messages} | fields).encode()


def test_times_are_counted_from_the_first_message():
    data = call(
        message("Hello, good morning.", "2026-11-30T10:00:00.5", "assistant"), message("My car!", "2026-11-30T10:00:12")
    )
    turns = read(data).transcript.turns
    assert [(turn.speaker, turn.start, turn.text) for turn in turns] == [
        ("assistant", 0.0, "Hello, good morning."),
        ("human", 11.5, "My car!"),
    ]


@pytest.mark.parametrize("later", ["2026-11-30T09:00:00", "2027-01-30T10:00:00Z"])
def test_times_that_go_back_or_away_are_not_believed(later):
    reading = read(call(message("Hello, good morning.", "2026-11-30T10:00:00Z"), message("So.", later)))
    assert [turn.start for turn in reading.transcript.turns] == [None, None]
    assert [(warning.code, warning.place) for warning in reading.warnings if "speakers" not in warning.code] == [
        ("unreadable_timing", "created_at")
    ]


@pytest.mark.parametrize("time", ["soon", 7, [], "2026-13-01T00:00:00"])
def test_a_time_that_is_no_date_is_counted(time):
    reading = read(call(message("Hello, good morning.", "2026-11-30T10:00:00Z"), message("So.", time)))
    assert [turn.start for turn in reading.transcript.turns] == [0.0, None]
    assert [(warning.code, warning.place) for warning in reading.warnings if "speakers" not in warning.code] == [
        ("unreadable_timing", "1 times")
    ]


def test_what_the_assistant_noted_is_no_speech_and_a_warning_says_so():
    reading = read(
        call(message("Hello, good morning.", None), claim={"name": "Kim"}, reminders=[], synthesis={"short": "car"})
    )
    assert "Kim" not in reading.transcript.model_dump_json()
    assert [(warning.code, warning.place) for warning in reading.warnings if "speakers" not in warning.code] == [
        ("notes_left_out", "claim"),
        ("notes_left_out", "synthesis"),
    ]


def test_messages_of_other_tools_are_unknown():
    with pytest.raises(ItemFailure, match="unknown shape"):
        read(b'{"messages": [{"role": "user", "content": "secret"}]}')
