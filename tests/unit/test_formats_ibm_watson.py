import json

import pytest

from pipeline.errors import ItemFailure
from pipeline.transcripts.read import read

STAMPS = [["hello", 0.5, 0.9], ["anna", 1.0, 1.4], ["hi", 1.6, 1.8]]


def result(transcript="hello anna hi ", timestamps=STAMPS):
    return {"final": True, "alternatives": [{"transcript": transcript, "timestamps": timestamps}]}


def label(speaker, start, end):
    return {"speaker": speaker, "from": start, "to": end, "confidence": 0.5, "final": False}


LABELS = [label(0, 0.5, 0.9), label(0, 1.0, 1.4), label(2, 1.6, 1.8)]


def lines(value):
    turns = read(json.dumps(value).encode()).transcript.turns
    return [(turn.speaker, turn.start, turn.end, turn.text) for turn in turns]


@pytest.mark.parametrize("in_a_job", [False, True])
def test_speakers_are_joined_to_the_words_by_their_times(in_a_job):
    recognition = {"result_index": 0, "results": [result()], "speaker_labels": LABELS}
    assert lines({"status": "completed", "results": [recognition]} if in_a_job else recognition) == [
        ("Speaker 0", 0.5, 1.4, "hello anna"),
        ("Speaker 2", 1.6, 1.8, "hi"),
    ]


def test_a_speaker_goes_on_from_one_result_to_the_next_and_no_word_is_lost():
    results = [result(timestamps=STAMPS[:2]), result("so ", []), result(timestamps=STAMPS[2:])]
    assert [line[3] for line in lines({"results": results, "speaker_labels": [label(0, 0.5, 1.8)]})] == [
        "hello anna so hi"
    ]


def test_without_labels_each_result_is_a_turn():
    assert lines({"results": [result(), result("all fine ", []), {"final": True, "alternatives": []}]}) == [
        (None, 0.5, 1.8, "hello anna hi "),
        (None, None, None, "all fine "),
    ]


def test_a_word_that_is_no_triple_is_named_by_its_place():
    with pytest.raises(
        ItemFailure, match=r"not what IBM writes at results\.0\.results\.0\.alternatives\.0\.timestamps"
    ):
        lines({"results": [result(timestamps=[["secret", 1]])]})
