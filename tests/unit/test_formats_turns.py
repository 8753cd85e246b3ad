import json

import pytest

from pipeline.errors import ItemFailure
from pipeline.transcripts.read import read

HELLO = {"speaker": "Rep", "text": " Hello,\nAnna. ", "start": 0.25, "end": 1}


def lines(value):
    turns = read(json.dumps(value).encode()).transcript.turns
    return [(turn.speaker, turn.start, turn.end, turn.text) for turn in turns]


@pytest.mark.parametrize("value", [[HELLO], {"turns": [HELLO]}, {"id": 7, "transcript": [HELLO]}])
def test_a_list_of_turns_stands_alone_or_under_its_name(value):
    assert lines(value) == [("Rep", 0.25, 1.0, " Hello,\nAnna. ")]


def test_what_was_read_is_written_and_read_the_same():
    turns = [
        HELLO,
        {"text": ""},
        {"speaker": "A", "text": "So", "start": 9e9, "end": 0.5},
        {"speaker": " ", "text": "x"},
    ]
    first = read(json.dumps({"turns": turns}).encode()).transcript
    again = read(first.model_dump_json().encode()).transcript
    assert again == first
    assert [turn.speaker for turn in again.turns] == ["Rep", None, "A", None]


def test_clock_times_and_numbered_speakers_are_understood():
    assert lines([{"speaker": 2, "text": "Good morning.", "start": "01:02", "end": "00:01:03.500"}]) == [
        ("Speaker 2", 62.0, 63.5, "Good morning.")
    ]


@pytest.mark.parametrize("time", [-1, "soon", True, 1e300, []])
def test_a_time_that_is_none_is_counted(time):
    reading = read(json.dumps([{"text": "Good morning.", "start": time}]).encode())
    assert reading.transcript.turns[0].start is None
    assert [(warning.code, warning.place) for warning in reading.warnings if "speakers" not in warning.code] == [
        ("unreadable_timing", "1 times")
    ]


@pytest.mark.parametrize("value", [[], {"turns": []}, {"turns": [{"text": " "}]}])
def test_no_turns_are_an_empty_input(value):
    with pytest.raises(ItemFailure, match="empty_input"):
        lines(value)


def test_a_turn_without_text_is_named_by_its_place():
    with pytest.raises(ItemFailure, match=r"not what Callfold writes at turns\.1\.text"):
        lines([HELLO, {"speaker": "Anna", "words": "secret"}])


@pytest.mark.parametrize(
    "value",
    [
        {"turns": 3},
        {"turns": ["secret"]},
        [{"name": "x", "price": 3}],
        [{"content": "x"}],
        [{"name": "Call 1", "content": "x"}],
    ],
)
def test_other_lists_are_no_turns(value):
    with pytest.raises(ItemFailure, match="unknown shape"):
        lines(value)


@pytest.mark.parametrize(
    ("turn", "speaker", "start", "end"),
    [
        ({"speaker_name": "Rep", "text": "Good morning.", "start_time": 1.5, "end_time": "2"}, "Rep", 1.5, 2),
        ({"user": "Rep", "content": "Good morning.", "timestamp": "00:01:02"}, "Rep", 62, None),
        ({"role": "agent", "message": "Good morning.", "startTimeMs": 1500, "endMs": 2000}, "agent", 1.5, 2),
        ({"Speaker": "Rep", "Text": "Good morning.", "Start Time": "0:01", "endTimeMillis": 2000}, "Rep", 1, 2),
        ({"speaker": {"id": 3, "name": "Rep"}, "text": "Good morning."}, "Rep", None, None),
        ({"speaker": {"id": 3}, "text": "Good morning."}, "Speaker 3", None, None),
    ],
)
def test_what_others_call_a_field_is_read(turn, speaker, start, end):
    assert lines({"segments": [turn]}) == lines([turn]) == [(speaker, start, end, "Good morning.")]


def test_dates_are_counted_from_the_first():
    first = {"speaker": "Rep", "text": "Good morning.", "timestamp": "2026-11-30T10:00:00Z"}
    second = {"speaker": "Dana", "text": "Hello.", "start": "2026-11-30T10:00:05.500Z", "end": "2026-11-30 10:00:07"}
    assert lines([first, second]) == [("Rep", 0, None, "Good morning."), ("Dana", 5.5, 7, "Hello.")]


def test_dates_that_go_backwards_or_are_none_are_counted():
    dates = ("2026-11-30T10:00:00Z", "2026-11-29T10:00:00Z", "2026-13-30T10:00:00Z")
    reading = read(json.dumps([{"speaker": "Rep", "text": "Good morning.", "time": date} for date in dates]).encode())
    assert {turn.start for turn in reading.transcript.turns} == {None}
    assert [each.place for each in reading.warnings if each.code == "unreadable_timing"] == ["1 times", "timestamp"]


@pytest.mark.parametrize(
    "turn",
    [
        {"speaker": None, "name": "Rep", "text": "", "content": "Good morning.", "start": None, "start_time": "1.5"},
        {"participant": {"name": "Rep"}, "text": "Good morning.", "start": "1.5", "end": ""},
        {"author": "Rep", "speaker_id": 4, "text": "Good morning.", "ts": 1.5},
    ],
)
def test_a_field_that_holds_nothing_gives_way_to_one_that_does(turn):
    assert lines([turn]) == [("Rep", 1.5, None, "Good morning.")]


def test_a_length_gives_the_end():
    assert lines([{"text": "Good morning.", "start": 1.5, "duration": 2}]) == [(None, 1.5, 3.5, "Good morning.")]


@pytest.mark.parametrize("empty", [{"turns": [], "transcript": [HELLO]}, {"segments": [HELLO], "sentences": []}])
def test_an_empty_list_gives_way_to_one_of_turns(empty):
    assert lines(empty) == lines([HELLO])


def test_a_summary_beside_the_turns_is_left_out_and_a_warning_says_so():
    reading = read(json.dumps({"transcript": [HELLO], "summary": "They spoke."}).encode())
    assert ("summary_left_out", "summary") in [(each.code, each.place) for each in reading.warnings]


def test_a_time_of_day_is_no_start_and_is_counted():
    reading = read(b'[{"speaker": "Rep", "text": "Good morning.", "time": "10:05 AM"}]')
    assert reading.transcript.turns[0].start is None
    assert ("unreadable_timing", "1 times") in [(each.code, each.place) for each in reading.warnings]
