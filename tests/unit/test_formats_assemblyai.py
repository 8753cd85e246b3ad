import json

import pytest

from pipeline.errors import ItemFailure
from pipeline.transcripts.read import read

WORDS = [
    {"text": "Hello,", "start": 500, "end": 900, "speaker": "A"},
    {"text": "Anna.", "start": 1_000, "end": 1_400, "speaker": "A"},
    {"text": "Hi.", "start": 1_600, "end": 1_800, "speaker": "B"},
]


def transcript(**fields):
    value = {"id": "t", "status": "completed", "audio_url": "https://example.com/a.mp3", "audio_duration": 9}
    return json.dumps(value | {"text": "Hello, Anna. Hi.", "words": WORDS, "utterances": None} | fields).encode()


def lines(data):
    return [(turn.speaker, turn.start, turn.end, turn.text) for turn in read(data).transcript.turns]


def test_utterances_come_first():
    utterance = {"speaker": "B", "start": 500, "end": 1_800, "text": "Hello, all of you.", "words": WORDS}
    assert lines(transcript(utterances=[utterance])) == [("Speaker B", 0.5, 1.8, "Hello, all of you.")]


def test_words_alone_are_joined_by_their_speakers():
    assert lines(transcript()) == [("Speaker A", 0.5, 1.4, "Hello, Anna."), ("Speaker B", 1.6, 1.8, "Hi.")]


def test_the_text_alone_is_one_turn():
    assert lines(transcript(words=[])) == [(None, None, None, "Hello, Anna. Hi.")]


def test_a_channels_speakers_are_counted_too():
    utterances = [{"speaker": speaker, "text": "Hi, you."} for speaker in ("1A", "2A", "2")]
    assert [line[0] for line in lines(transcript(utterances=utterances))] == ["Speaker 1A", "Speaker 2A", "Speaker 2"]


def test_what_a_model_wrote_is_left_out_with_a_warning():
    warnings = read(transcript(summary="- They greet.", chapters=[])).warnings
    assert [(warning.code, warning.place) for warning in warnings if "speakers" not in warning.code] == [
        ("summary_left_out", "summary")
    ]


def test_silence_is_an_empty_input():
    with pytest.raises(ItemFailure, match="empty_input"):
        read(transcript(words=[], text=""))


@pytest.mark.parametrize(
    ("status", "what"),
    [("error", "could not transcribe it"), ("queued", "not finished"), ("processing", "not finished")],
)
def test_a_job_without_a_transcript_is_unreadable(status, what):
    with pytest.raises(ItemFailure, match=f"unreadable_input.*{what}"):
        read(transcript(status=status, error="secret", text=None, words=None))


@pytest.mark.parametrize("wrapped", [False, True])
def test_utterances_alone_count_milliseconds_too(wrapped):
    said = [{"speaker": "A", "text": "Good morning.", "start": 1500, "end": 2000, "confidence": 0.9, "words": []}]
    turn = read(json.dumps({"utterances": said} if wrapped else said).encode()).transcript.turns[0]
    assert (turn.speaker, turn.start, turn.end) == ("Speaker A", 1.5, 2)
