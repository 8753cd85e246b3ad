import json

import pytest

from pipeline.errors import ItemFailure
from pipeline.transcripts.read import read

WORDS = [
    {"word": "hello", "punctuated_word": "Hello,", "start": 0.5, "end": 0.9, "speaker": 0},
    {"word": "anna", "punctuated_word": "Anna.", "start": 1.0, "end": 1.4, "speaker": 0},
    {"word": "hi", "punctuated_word": "Hi.", "start": 1.6, "end": 1.8, "speaker": 1},
]


def response(**results):
    return json.dumps({"metadata": {"duration": 9}, "results": results}).encode()


def alternative(**fields):
    return [{"alternatives": [{"transcript": "Hello, Anna. Hi.", "words": WORDS} | fields]}]


def lines(data):
    return [(turn.speaker, turn.start, turn.end, turn.text) for turn in read(data).transcript.turns]


def test_utterances_come_first():
    utterance = {"start": 0.5, "end": 1.8, "transcript": "Hello, all of you.", "speaker": 2}
    assert lines(response(channels=alternative(), utterances=[utterance])) == [
        ("Speaker 2", 0.5, 1.8, "Hello, all of you.")
    ]


def test_paragraphs_come_before_words():
    paragraph = {"sentences": [{"text": "Hello."}, {"text": "All fine?"}], "start": 0.5, "end": 1.8, "speaker": 1}
    data = response(channels=alternative(paragraphs={"paragraphs": [paragraph]}))
    assert lines(data) == [("Speaker 1", 0.5, 1.8, "Hello. All fine?")]


def test_words_alone_are_joined_by_their_speakers():
    assert lines(response(channels=alternative(paragraphs={"paragraphs": []}))) == [
        ("Speaker 0", 0.5, 1.4, "Hello, Anna."),
        ("Speaker 1", 1.6, 1.8, "Hi."),
    ]


def test_each_channel_is_a_speaker_and_their_turns_are_in_order():
    first, second = alternative(words=WORDS[:2]), alternative(words=[WORDS[2] | {"start": 0.1, "end": 0.3}])
    assert [line[:2] for line in lines(response(channels=first + second))] == [("Channel 1", 0.1), ("Channel 0", 0.5)]


@pytest.mark.parametrize("channels", [[], [{"alternatives": []}], alternative(words=[], transcript="")])
def test_silence_is_an_empty_input(channels):
    with pytest.raises(ItemFailure, match="empty_input"):
        read(response(channels=channels))


def test_a_time_that_cannot_be_read_is_counted_and_the_words_stay():
    reading = read(response(channels=alternative(words=[WORDS[0] | {"start": "soon", "end": -1}, WORDS[1]])))
    assert [turn.text for turn in reading.transcript.turns] == ["Hello, Anna."]
    assert [(warning.code, warning.place) for warning in reading.warnings if "speakers" not in warning.code] == [
        ("unreadable_timing", "2 times")
    ]


def test_what_deepgram_does_not_write_is_named_by_its_place():
    with pytest.raises(
        ItemFailure, match=r"not what Deepgram writes at results\.channels\.0\.alternatives\.0\.words\.0"
    ):
        read(response(channels=alternative(words=["secret"])))


def test_speakers_of_each_channel_stay_apart_and_utterances_of_both_are_in_order():
    said = [("Hello.", 2, 0, 0), ("Hi.", 1, 0, 1), ("Morning.", 3, 1, 1)]
    utterances = [
        {"transcript": text, "start": start, "end": start + 0.5, "speaker": speaker, "channel": channel}
        for text, start, speaker, channel in said
    ]
    assert [line[:2] for line in lines(response(channels=alternative() * 2, utterances=utterances))] == [
        ("Channel 1, Speaker 0", 1),
        ("Channel 0", 2),
        ("Channel 1, Speaker 1", 3),
    ]


def test_a_summary_is_left_out_and_a_warning_says_so():
    short = {"result": "success", "short": "They spoke."}
    reading = read(response(channels=alternative(summaries=[{"summary": "They did."}]), summary=short))
    assert [(each.code, each.place) for each in reading.warnings if each.code == "summary_left_out"] == [
        ("summary_left_out", "results.summary"),
        ("summary_left_out", "summaries"),
    ]
