import json

import pytest

from pipeline.errors import ItemFailure
from pipeline.transcripts.read import read


def line(name, text, timestamp="00:00:00"):
    speaker = {"display_name": name, "matched_calendar_invitee_email": None}
    return {"speaker": speaker, "text": text, "timestamp": timestamp}


LINES = [line("Mia Lang", "Shall we start?", "00:00:05"), line("Ben Ode (Northwind)", "Please.", "01:02:03")]


def meeting(**fields):
    return {"title": "Intro", "recording_id": 7, "default_summary": None, "transcript": LINES} | fields


def reading(value):
    return read(json.dumps(value).encode())


def lines(value):
    return [(turn.speaker, turn.start, turn.end, turn.text) for turn in reading(value).transcript.turns]


READ = [("Mia Lang", 5.0, None, "Shall we start?"), ("Ben Ode (Northwind)", 3723.0, None, "Please.")]


def test_lines_are_turns_with_a_start_and_no_end():
    assert lines(meeting()) == READ


def test_the_transcript_alone_and_a_list_of_one_meeting_read_the_same():
    assert lines({"transcript": LINES}) == READ
    assert lines({"items": [meeting()], "next_cursor": None}) == READ


def test_a_list_of_several_meetings_is_refused():
    with pytest.raises(ItemFailure, match="holds 2 calls"):
        reading({"items": [meeting(), meeting()]})


def test_what_a_model_wrote_is_left_out_with_warnings():
    summary = {"template_name": "General", "markdown_formatted": "## They start"}
    warnings = reading(meeting(default_summary=summary, action_items=[{"description": "Start"}])).warnings
    assert [(warning.code, warning.place) for warning in warnings] == [
        ("summary_left_out", "default_summary"),
        ("summary_left_out", "action_items"),
    ]


def test_a_summary_without_a_transcript_is_not_a_call():
    with pytest.raises(ItemFailure, match="not_a_call"):
        reading(meeting(transcript=None, default_summary={"markdown_formatted": "## They start"}))


def test_a_meeting_without_lines_is_an_empty_input():
    with pytest.raises(ItemFailure, match="empty_input"):
        reading(meeting(transcript=[]))


def test_times_that_cannot_be_read_are_counted_and_the_words_stay():
    read_so = reading(meeting(transcript=[line("Mia Lang", "Shall we start?", "soon"), line(None, "Please.", None)]))
    assert [(turn.speaker, turn.start, turn.text) for turn in read_so.transcript.turns] == [
        ("Mia Lang", None, "Shall we start?"),
        (None, None, "Please."),
    ]
    assert [(warning.code, warning.place) for warning in read_so.warnings] == [("unreadable_timing", "1 times")]
