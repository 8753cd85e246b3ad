import json

import pytest

from pipeline.errors import ItemFailure
from pipeline.transcripts.read import read

SENTENCES = [
    {
        "speaker_name": "Mia Lang",
        "speaker_id": "0",
        "text": "Is Tuesday fine?",
        "raw_text": "is tuesday fine",
        "start_time": 0.5,
        "end_time": "2.25",
    },
    {"speaker_name": None, "speaker_id": 1, "text": None, "raw_text": "yes it is", "start_time": "3", "end_time": 4.0},
]


def answer(errors=None, **fields):
    value = {"data": {"transcript": {"id": "01", "title": "Intro", "sentences": SENTENCES} | fields}}
    return json.dumps(value | ({"errors": errors} if errors else {})).encode()


def lines(data):
    return [(turn.speaker, turn.start, turn.end, turn.text) for turn in read(data).transcript.turns]


READ = [("Mia Lang", 0.5, 2.25, "Is Tuesday fine?"), ("Speaker 1", 3.0, 4.0, "yes it is")]


def test_sentences_are_turns_with_names_or_numbers_and_times_as_numbers_or_text():
    assert lines(answer()) == READ


def test_the_bare_transcript_and_a_list_of_one_read_the_same():
    bare = {"sentences": SENTENCES, "summary": None}
    assert lines(json.dumps(bare).encode()) == READ
    assert lines(json.dumps({"data": {"transcripts": [bare]}}).encode()) == READ


def test_a_list_of_several_transcripts_is_refused():
    several = {"data": {"transcripts": [{"sentences": SENTENCES}] * 3}}
    with pytest.raises(ItemFailure, match="holds 3 calls"):
        read(json.dumps(several).encode())


def test_the_summary_is_left_out_with_a_warning():
    reading = read(answer(summary={"overview": "They meet on Tuesday.", "action_items": None}))
    assert [(warning.code, warning.place) for warning in reading.warnings] == [("summary_left_out", "summary")]
    assert read(answer(summary={"overview": None})).warnings == ()


def test_a_summary_without_sentences_is_not_a_call():
    with pytest.raises(ItemFailure, match=r"not_a_call.*a summary that a model wrote"):
        read(answer(sentences=None, summary={"overview": "They meet on Tuesday."}))


def test_a_bare_transcript_without_sentences_is_known_by_its_other_fields():
    with pytest.raises(ItemFailure, match="empty_input"):
        read(json.dumps({"sentences": None, "meeting_attendees": []}).encode())


@pytest.mark.parametrize("fields", [{"sentences": None}, {"meeting_info": {"silent_meeting": True}}])
def test_a_silent_meeting_is_an_empty_input(fields):
    with pytest.raises(ItemFailure, match="empty_input"):
        read(answer(**fields))


def test_an_error_in_place_of_sentences_is_no_silence():
    errors = [{"message": "secret", "code": "INTERNAL_SERVER_ERROR"}]
    nothing = json.dumps({"data": {"transcript": None}, "errors": errors}).encode()
    for data in (nothing, answer(errors, sentences=None)):
        with pytest.raises(ItemFailure, match=r"unreadable_input.*Fireflies answered with an error") as refusal:
            read(data)
        assert "secret" not in str(refusal.value)
    assert lines(answer(errors)) == READ


def test_the_sentences_alone_read_the_same():
    assert lines(json.dumps(SENTENCES).encode()) == READ
