import json

import pytest

from pipeline.errors import ItemFailure
from pipeline.transcripts.formats import gong
from pipeline.transcripts.read import read

# Equal as floats: only text tells them apart.
REP, BUYER = "6432345678555530067", "6432345678555530068"


def sentence(text, start=None, end=None):
    return {"start": start, "end": end, "text": text}


TALK = [
    {"speakerId": REP, "topic": None, "sentences": [sentence("Hi, Ben.", 0, 900), sentence("All set?", 1_000, 1_800)]},
    {"speakerId": BUYER, "topic": "Pricing", "sentences": [sentence("Send me the quote.", 2_500, 4_000)]},
]
EXTENSIVE = {
    "calls": [
        {
            "metaData": {"id": "1"},
            "parties": [
                {"speakerId": REP, "name": "Mia Lang", "title": "AE", "emailAddress": "mia@example.com"},
                {"speakerId": BUYER, "name": None, "emailAddress": "ben@example.com"},
                {"speakerId": None, "name": "Who Never Spoke"},
            ],
        }
    ]
}


def transcript(*calls, **beside):
    return json.dumps({"callTranscripts": [{"callId": "1", "transcript": call} for call in calls]} | beside).encode()


def lines(data, names=None):
    return [(turn.speaker, turn.start, turn.end, turn.text) for turn in read(data, names).transcript.turns]


def test_a_monologue_is_a_turn_under_its_speakers_name():
    assert lines(transcript(TALK), {REP: "Mia Lang", BUYER: "Ben Ode"}) == [
        ("Mia Lang", 0.0, 1.8, "Hi, Ben. All set?"),
        ("Ben Ode", 2.5, 4.0, "Send me the quote."),
    ]


def test_two_ids_that_are_equal_as_numbers_stay_two_speakers():
    assert [line[0] for line in lines(transcript(TALK))] == ["Speaker 1", "Speaker 2"]


def test_names_are_those_of_parties_who_spoke_and_have_one():
    assert gong.parties(EXTENSIVE) == {REP: "Mia Lang"}


def test_the_parties_in_the_same_file_name_its_speakers():
    assert [line[0] for line in lines(transcript(TALK, **EXTENSIVE))] == ["Mia Lang", "Speaker 1"]


def test_an_id_that_is_a_number_is_refused_for_it_may_be_rounded():
    with pytest.raises(ItemFailure, match=r"not what Gong writes at callTranscripts\.0\.transcript\.0\.speakerId"):
        read(transcript([TALK[0] | {"speakerId": 6432345678555530000}]))


def test_the_parties_alone_are_not_a_call():
    with pytest.raises(ItemFailure, match=r"not_a_call.*the names of a call's parties"):
        read(json.dumps(EXTENSIVE).encode())


def test_several_calls_in_a_file_are_refused_with_their_number():
    with pytest.raises(ItemFailure, match=r"unreadable_input.*holds 2 calls: submit one file per call"):
        read(transcript(TALK, TALK))


def test_a_call_that_is_not_transcribed_yet_is_to_be_exported_later():
    with pytest.raises(ItemFailure, match=r"unreadable_input.*holds no call yet"):
        read(transcript())


@pytest.mark.parametrize("talk", [None, [], [{"speakerId": REP, "sentences": None}]])
def test_silence_is_an_empty_input(talk):
    with pytest.raises(ItemFailure, match="empty_input"):
        read(transcript(talk))


@pytest.mark.parametrize(
    "value", [None, [], {}, {"calls": None}, {"calls": [{"metaData": {}}]}, {"calls": ["parties"]}]
)
def test_what_has_no_parties_is_no_file_of_them(value):
    assert not gong.is_parties(value)
