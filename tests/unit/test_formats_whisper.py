import json
import math

import pytest

from pipeline.errors import ItemFailure
from pipeline.transcripts.read import read

SPEECH = {"start": 0.0, "end": 2.5, "text": " Hello, Anna.", "no_speech_prob": 0.01, "avg_logprob": -0.2}
SILENCE = {"start": 2.5, "end": 30.0, "text": " Thank you.", "no_speech_prob": 0.9, "avg_logprob": -1.4}


def result(*segments, **fields):
    return json.dumps({"text": "ignored", "segments": segments, "language": "en"} | fields).encode()


def lines(data):
    return [(turn.speaker, turn.start, turn.end, turn.text) for turn in read(data).transcript.turns]


def word(text, start=None, end=None, speaker=None):
    given = {"word": text, "start": start, "end": end, "speaker": speaker, "score": 0.9}
    return {key: value for key, value in given.items() if value is not None}


def test_each_segment_is_a_turn_of_nobody():
    assert lines(result(SPEECH, SPEECH | {"start": 3, "end": 4, "text": " All fine?"})) == [
        (None, 0.0, 2.5, " Hello, Anna."),
        (None, 3.0, 4.0, " All fine?"),
    ]


def test_a_text_without_segments_is_one_turn_without_times():
    assert lines(b'{"text": "We sign on Monday.", "usage": {"seconds": 3}}') == [
        (None, None, None, "We sign on Monday.")
    ]


def test_not_a_number_is_no_number():
    data = result(SPEECH | {"end": math.nan, "avg_logprob": math.nan, "no_speech_prob": math.inf})
    assert lines(data) == [(None, 0.0, None, " Hello, Anna.")]


@pytest.mark.parametrize("data", [result(text=""), b'{"segments": [], "word_segments": [], "language": "en"}'])
def test_no_segments_are_an_empty_input(data):
    with pytest.raises(ItemFailure, match="empty_input"):
        read(data)


def test_silence_throughout_is_an_empty_input():
    with pytest.raises(ItemFailure, match=r"empty_input.*heard no speech"):
        read(result(SILENCE, SILENCE))


def test_silence_between_speech_is_kept_and_counted():
    reading = read(result(SPEECH, SILENCE, SILENCE | {"end": 31.0}))
    assert len(reading.transcript.turns) == 3
    assert [(warning.code, warning.place) for warning in reading.warnings if "speakers" not in warning.code] == [
        ("maybe_silence", "2 times")
    ]


@pytest.mark.parametrize("sure", [{"no_speech_prob": 0.5}, {"avg_logprob": -0.9}, {"avg_logprob": None}])
def test_a_segment_is_silent_only_by_both_of_whispers_measures(sure):
    assert "maybe_silence" not in {warning.code for warning in read(result(SILENCE | sure, SPEECH)).warnings}


def test_a_speaker_falls_back_from_the_word_to_the_segment_to_the_one_before():
    segments = [
        {"start": 0, "end": 1, "text": "Morning.", "words": [word("Morning.", 0, 1)]},
        {"start": 1, "end": 2, "text": "Hi.", "speaker": "SPEAKER_00", "words": [word("Hi.", 1, 2)]},
        {"start": 2, "end": 3, "text": "Ready?", "words": [word("Ready?", 2, 3, "SPEAKER_01")]},
        {"start": 3, "end": 4, "text": "Yes.", "words": [word("Yes.", 3, 4)]},
        {"start": 4, "end": 5, "text": "Good."},
    ]
    speakers = [line[0] for line in lines(result(*segments))]
    assert speakers == [None, "SPEAKER_00", "SPEAKER_01", "SPEAKER_01", "SPEAKER_01"]


def test_a_segment_of_two_speakers_is_cut_at_the_change_and_numerals_take_their_neighbours_times():
    words = [word("Seats:", 1.0, 1.4, "A"), word("40"), word("50?", speaker="B"), word("Forty.", 2.0, 2.5, "B")]
    segment = {"start": 0.9, "end": 2.6, "text": " Seats: 40 50?  Forty.", "words": words}
    assert lines(result(segment)) == [
        ("Speaker A", 1.0, 2.0, "Seats: 40"),
        ("Speaker B", 1.4, 2.5, "50?  Forty."),
    ]


def test_a_language_without_blanks_gets_none_where_it_is_cut():
    words = [word("你好", 0, 1, "A"), word("我想看看报价单", 1, 2, "A"), word("嗯可以的", 2, 3, "B")]
    segment = {"start": 0, "end": 3, "text": "你好我想看看报价单嗯可以的", "words": words}
    assert [line[3] for line in lines(result(segment))] == ["你好我想看看报价单", "嗯可以的"]


def test_nothing_is_lost_where_words_and_text_differ():
    words = [word("One", 0, 1, "A"), word("zwei", 1, 2, "B"), word("three four", 2, 3, "A")]
    segment = {"start": 0, "end": 3, "text": "One two three four", "words": words}
    assert "".join(line[3] for line in lines(result(segment))).replace(" ", "") == "Onetwothreefour"


def test_what_whisper_does_not_write_is_named_by_its_place():
    with pytest.raises(ItemFailure, match=r"not what Whisper writes at segments\.1"):
        read(result(SPEECH, "secret"))


def test_words_alone_say_when_their_text_is_said():
    said = {
        "text": "Hello, Anna. All fine?",
        "words": [word("Hello", 0.5, 1), word("Anna", 1, 1.5), word("fine", 2, 3)],
    }
    assert lines(json.dumps(said).encode()) == [(None, 0.5, 3.0, "Hello, Anna. All fine?")]
