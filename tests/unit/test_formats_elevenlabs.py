import json

import pytest

from pipeline.errors import ItemFailure
from pipeline.transcripts.read import read

TURNS = [
    {"role": "agent", "message": "Hello, how can I help?", "time_in_call_secs": 0},
    {"role": "agent", "message": None, "tool_calls": [{"tool_name": "find"}], "time_in_call_secs": 5},
    {"role": "user", "message": "Two seats.", "time_in_call_secs": 6},
]


def lines(value):
    turns = read(json.dumps(value).encode()).transcript.turns
    return [(turn.speaker, turn.start, turn.end, turn.text) for turn in turns]


def word(text, start, end, speaker="speaker_0", kind="word"):
    return {"text": text, "start": start, "end": end, "type": kind, "speaker_id": speaker}


def scribe(*words, **fields):
    return {"language_code": "eng", "language_probability": 0.9, "text": "", "words": words} | fields


@pytest.mark.parametrize("in_a_webhook", [False, True])
def test_an_agents_turns_are_those_in_which_something_is_said(in_a_webhook):
    assert lines({"data": {"transcript": TURNS}} if in_a_webhook else {"transcript": TURNS}) == [
        ("agent", 0.0, None, "Hello, how can I help?"),
        ("user", 6.0, None, "Two seats."),
    ]


def test_an_agents_own_summary_is_left_out_and_a_warning_says_so():
    data = json.dumps({"transcript": TURNS, "analysis": {"transcript_summary": "They talk."}}).encode()
    warnings = read(data).warnings
    assert [(warning.code, warning.place) for warning in warnings if "speakers" not in warning.code] == [
        ("summary_left_out", "analysis.transcript_summary")
    ]


def test_scribes_words_are_joined_by_their_speakers():
    found = lines(
        scribe(
            word("Hello,", 0.5, 0.9),
            word(" ", 0.9, 1.0, kind="spacing"),
            word("Anna.", 1.0, 1.4),
            word(" ", 1.4, 1.5, kind="spacing"),
            word("(laughs)", 1.5, 1.8, kind="audio_event"),
            word("Hi.", 1.9, 2.1, "speaker_1"),
        )
    )
    assert found == [("speaker_0", 0.5, 1.8, "Hello, Anna. (laughs)"), ("speaker_1", 1.9, 2.1, "Hi.")]


def test_a_language_without_spacings_gets_no_blanks():
    found = lines(scribe(word("你好", 0, 1), word("我想看看报价单", 1, 2), word("嗯可以的", 2, 3, "speaker_1")))
    assert [line[3] for line in found] == ["你好我想看看报价单", "嗯可以的"]


def test_each_channel_of_scribe_is_a_speaker():
    channels = [scribe(word("Hi.", 2, 3)), scribe(word("Hello.", 0, 1)), scribe(text="Noise.")]
    found = lines({"transcripts": channels, "audio_duration_secs": 3})
    assert sorted(line[0] for line in found) == ["Channel 0", "Channel 1", "Channel 2"]
    assert [line[3] for line in found] == ["Hello.", "Noise.", "Hi."]


@pytest.mark.parametrize("value", [scribe(), {"transcript": [TURNS[1]]}])
def test_silence_is_an_empty_input(value):
    with pytest.raises(ItemFailure, match="empty_input"):
        lines(value)
