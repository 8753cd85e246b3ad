import json

import pytest

from pipeline.transcripts.read import read

SEGMENTS = [
    {"speaker": "Mia Lang", "participant_id": "p1", "start": 1_500, "end": 2_750, "text": "Shall we start?"},
    {"speaker": None, "participant_id": "p2", "start": 3_000, "end": None, "text": "Please."},
]


@pytest.mark.parametrize("value", [SEGMENTS, {"id": "r", "duration_ms": 9_000, "transcript": SEGMENTS}])
def test_segments_alone_or_in_their_recording_are_turns(value):
    reading = read(json.dumps(value).encode())
    assert reading.format == "grain"
    assert [(turn.speaker, turn.start, turn.end, turn.text) for turn in reading.transcript.turns] == [
        ("Mia Lang", 1.5, 2.75, "Shall we start?"),
        ("p2", 3.0, None, "Please."),
    ]


def test_what_a_model_wrote_is_left_out_with_a_warning():
    recording = {"transcript": SEGMENTS, "ai_summary": {"text": "They start."}, "ai_action_items": []}
    warnings = read(json.dumps(recording).encode()).warnings
    assert [(warning.code, warning.place) for warning in warnings] == [("summary_left_out", "ai_summary")]
