import json

import pytest

from pipeline.errors import ItemFailure
from pipeline.transcripts.read import read


def lines(monologues, **fields):
    turns = read(json.dumps({"monologues": monologues} | fields).encode()).transcript.turns
    return [(turn.speaker, turn.start, turn.end, turn.text) for turn in turns]


def text(value, start=None, end=None):
    return {"type": "text", "value": value, "ts": start, "end_ts": end, "confidence": 0.9}


def punct(value):
    return {"type": "punct", "value": value}


def test_blanks_and_points_are_elements_of_their_own():
    elements = [text("Hello", 0.5, 1.5), punct(", "), text("e-mail", 1.75, 2.85), punct(" "), text("me"), punct(".")]
    assert lines([{"speaker": 0, "elements": elements}]) == [("Speaker 0", 0.5, 2.85, "Hello, e-mail me.")]


def test_without_punctuation_words_are_parted_all_the_same():
    assert (
        lines([{"speaker": 1, "elements": [text("Ship"), text("everything"), punct(".")]}])[0][3] == "Ship everything."
    )


def test_people_who_transcribe_name_speakers_and_write_clock_times():
    element = {"type": "text", "value": "Hello, Anna.", "timestamp": "00:01:02,500", "end_timestamp": "00:01:03,000"}
    speakers = [{"id": 0, "name": "Anna Kim"}, {"id": 1, "name": None}]
    monologues = [{"speaker": 0, "elements": [element]}, {"speaker": 1, "elements": [text("Hi.")]}]
    assert lines(monologues, speakers=speakers) == [
        ("Anna Kim", 62.5, 63.0, "Hello, Anna."),
        ("Speaker 1", None, None, "Hi."),
    ]


@pytest.mark.parametrize("monologues", [[], [{"speaker": 0, "elements": []}]])
def test_silence_is_an_empty_input(monologues):
    with pytest.raises(ItemFailure, match="empty_input"):
        lines(monologues)


def test_monologues_of_something_else_are_unknown():
    with pytest.raises(ItemFailure, match="unknown shape"):
        lines([{"speaker": "Bob", "blocks": [{"text": "secret"}]}])
