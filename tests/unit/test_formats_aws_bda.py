import json

import pytest

from pipeline.errors import ItemFailure
from pipeline.transcripts.read import read


def segment(text, start, end, speaker=None, channel=None):
    labels = {"speaker": speaker and {"speaker_label": speaker}, "channel": channel and {"channel_label": channel}}
    return {"start_timestamp_millis": start, "end_timestamp_millis": end, "type": "TRANSCRIPT", "text": text} | labels


SEGMENTS = [segment("Good morning.", 500, 1_500, "spk_0", "ch_1"), segment("Hello!", 1_700, 2_000, None, "ch_0")]


def output(**fields):
    value = {"metadata": {"semantic_modality": "AUDIO"}, "audio_segments": SEGMENTS, "audio": {"summary": None}}
    return json.dumps(value | fields).encode()


def test_segments_are_turns_of_speakers_or_else_of_channels():
    reading = read(output())
    assert [(turn.speaker, turn.start, turn.end, turn.text) for turn in reading.transcript.turns] == [
        ("spk_0", 0.5, 1.5, "Good morning."),
        ("ch_0", 1.7, 2.0, "Hello!"),
    ]


def test_summaries_are_left_out_with_warnings():
    reading = read(output(audio={"summary": "They greet."}, topics=[{"summary": "A greeting."}]))
    assert [(warning.code, warning.place) for warning in reading.warnings if "speakers" not in warning.code] == [
        ("summary_left_out", "audio.summary"),
        ("summary_left_out", "topics"),
    ]
    assert len(reading.transcript.turns) == 2


def test_what_a_blueprint_concluded_is_not_a_call():
    conclusion = {
        "metadata": {},
        "matched_blueprint": {"name": "Calls"},
        "inference_result": {"call_summary": "secret"},
    }
    with pytest.raises(ItemFailure, match=r"not_a_call.*a summary that a model wrote, not a call"):
        read(json.dumps(conclusion).encode())


def test_silence_is_an_empty_input():
    with pytest.raises(ItemFailure, match="empty_input"):
        read(output(audio_segments=[]))
