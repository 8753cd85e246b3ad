import json

import pytest

from pipeline.errors import ItemFailure
from pipeline.transcripts.read import read

HELLO = {"word": "Hello,", "startTime": "1.300s", "endTime": "1.700s"}
ANNA = {"word": "Anna.", "startTime": {"seconds": "1", "nanos": 700000000}, "endTime": {"seconds": "2"}}
FINE = {"word": "Fine?", "startTime": "2.100s", "endTime": "2.500s"}


def result(transcript, *words, **fields):
    return {"alternatives": [{"transcript": transcript, "words": words}, {"transcript": "worse"}]} | fields


def response(*results, **fields):
    return json.dumps({"results": results} | fields).encode()


def lines(data):
    return [(turn.speaker, turn.start, turn.end, turn.text) for turn in read(data).transcript.turns]


def test_each_result_is_a_turn_with_its_words_times():
    assert lines(response(result("Hello, Anna.", HELLO, ANNA), result(" Fine?", FINE, languageCode="en-us"))) == [
        (None, 1.3, 2.0, "Hello, Anna."),
        (None, 2.1, 2.5, " Fine?"),
    ]


def test_the_response_of_an_operation_is_unwrapped():
    data = json.dumps(
        {"name": "7", "done": True, "response": {"results": [result("Good morning.", resultEndTime="3s")]}}
    ).encode()
    assert lines(data) == [(None, None, 3.0, "Good morning.")]


def test_the_last_result_alone_has_speakers_and_repeats_every_word():
    tagged = [HELLO | {"speakerTag": 2}, ANNA | {"speakerTag": 2}, FINE | {"speakerTag": 1}]
    every = {"alternatives": [{"words": tagged}]}
    once = [("Speaker 2", 1.3, 2.0, "Hello, Anna."), ("Speaker 1", 2.1, 2.5, "Fine?")]
    assert lines(response(result("Hello, Anna.", HELLO, ANNA), result("Fine?", FINE), every)) == once
    assert lines(response(result("Hello, Anna."), result("Fine?"), every)) == once


def test_a_last_result_that_repeats_nothing_costs_no_words():
    data = response(result("Hello, Anna.", HELLO, ANNA), result("Fine?", FINE | {"speakerTag": 1}))
    assert [line[3] for line in lines(data)] == ["Hello, Anna.", "Fine?"]


def test_version_2_labels_the_words_of_every_result():
    first = {"word": "Good", "startOffset": "0.5s", "endOffset": "0.9s", "speakerLabel": "1"}
    second = {"word": "Morning, Anna.", "startOffset": "1s", "endOffset": "1.2s", "speakerLabel": "2"}
    assert lines(response(result("Good", first), result("Morning, Anna.", second))) == [
        ("Speaker 1", 0.5, 0.9, "Good"),
        ("Speaker 2", 1.0, 1.2, "Morning, Anna."),
    ]


def test_each_channel_is_a_speaker():
    data = response(result("Fine?", FINE, channelTag=1), result("Hello, Anna.", HELLO, channelTag=2))
    assert lines(data) == [("Channel 2", 1.3, 1.7, "Hello, Anna."), ("Channel 1", 2.1, 2.5, "Fine?")]


@pytest.mark.parametrize(
    "data",
    [
        response(),
        response({"alternatives": []}, result("")),
        response(totalBilledTime="1s"),
        b'{"totalBilledTime": "5s", "requestId": "7"}',
    ],
)
def test_silence_is_an_empty_input(data):
    with pytest.raises(ItemFailure, match="empty_input"):
        read(data)


@pytest.mark.parametrize("time", ["soon", {"seconds": [1]}, {"nanos": "x"}, "PT1X", -1, True])
def test_a_time_that_cannot_be_read_is_counted_and_the_words_stay(time):
    reading = read(response(result("Hello, Anna.", HELLO | {"startTime": time})))
    assert [(turn.start, turn.text) for turn in reading.transcript.turns] == [(None, "Hello, Anna.")]
    assert [(warning.code, warning.place) for warning in reading.warnings if "speakers" not in warning.code] == [
        ("unreadable_timing", "1 times")
    ]


def test_what_google_does_not_write_is_named_by_its_place():
    with pytest.raises(ItemFailure, match=r"not what Google writes at results\.0\.alternatives\.0\.words\.0"):
        read(response(result("Hi", "secret")))


def test_speakers_within_channels_stay_apart():
    first = result("Hello, Anna.", HELLO | {"speakerLabel": "1"}, ANNA | {"speakerLabel": "2"}, channelTag=1)
    second = result("Fine?", FINE | {"speakerLabel": "1"}, channelTag=2)
    assert lines(response(first, second, result("Yes."))) == [
        ("Channel 1, Speaker 1", 1.3, 1.7, "Hello,"),
        ("Channel 1, Speaker 2", 1.7, 2.0, "Anna."),
        ("Channel 2", 2.1, 2.5, "Fine?"),
        (None, None, None, "Yes."),
    ]
