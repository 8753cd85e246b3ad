import json

import pytest

from pipeline.transcripts.read import read

WORDS = [
    {"word": "hello", "punct": "Hello.", "start": 0.5, "end": 0.9},
    {"word": "hi", "punct": "Hi,", "start": 1.0, "end": 1.3},
    {"word": "anna", "punct": "Anna.", "start": 1.4, "end": 1.8},
]
SEGMENTS = [
    {"start": 0, "duration": 1, "speaker": {"@id": "S0", "gender": "F"}},
    {"start": 1, "duration": 2, "speaker": {"@id": "S12", "gender": "M"}},
]


def lines(value):
    turns = read(json.dumps(value).encode()).transcript.turns
    return [(turn.speaker, turn.start, turn.end, turn.text) for turn in turns]


@pytest.mark.parametrize("in_a_job", [False, True])
def test_a_word_is_whose_stretch_began_last(in_a_job):
    transcript = {"words": WORDS, "segmentation": {"segments": SEGMENTS}}
    assert lines({"retval": transcript} if in_a_job else transcript) == [
        ("S0", 0.5, 0.9, "Hello."),
        ("S12", 1.0, 1.8, "Hi, Anna."),
    ]


def test_without_a_segmentation_nobody_is_named():
    assert lines({"retval": {"words": WORDS}}) == [(None, 0.5, 1.8, "Hello. Hi, Anna.")]
