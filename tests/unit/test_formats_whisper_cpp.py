import json

import pytest

from pipeline.errors import ItemFailure
from pipeline.transcripts.read import read


def output(*segments):
    return json.dumps({"systeminfo": "", "model": {"type": "base"}, "transcription": segments}).encode()


def segment(text, start, end, **more):
    times = {"timestamps": {"from": "00:00:00,000"}, "offsets": {"from": start, "to": end}}
    return times | {"text": text} | more


def test_offsets_are_milliseconds():
    reading = read(output(segment(" Good morning, Dana.", 0, 2480), segment(" Hi.", 2480, 3000)))
    assert reading.format == "whisper_cpp"
    assert [(turn.start, turn.end, turn.text) for turn in reading.transcript.turns] == [
        (0.0, 2.48, " Good morning, Dana."),
        (2.48, 3.0, " Hi."),
    ]


def test_channels_are_speakers_and_nobody_is_told_where_both_are_loud():
    reading = read(output(*(segment("We will send it.", 0, 9, speaker=label) for label in ("0", "1", "?"))))
    assert [turn.speaker for turn in reading.transcript.turns] == ["Speaker 0", "Speaker 1", None]


def test_a_recording_without_speech_is_an_empty_input():
    with pytest.raises(ItemFailure, match="empty_input"):
        read(output())
