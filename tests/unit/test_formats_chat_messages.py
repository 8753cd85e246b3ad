import json

import pytest

from pipeline.errors import ItemFailure
from pipeline.transcripts.read import read

SLACK = {"type": "message", "user": "U1", "text": "Good morning.", "ts": "1700000000.1"}
TEAMS = {"messageType": "message", "createdDateTime": "2026-11-30", "body": {"content": "Good morning."}}
TELEGRAM = {"id": 1, "type": "message", "date": "2026-11-30T10:00:00", "from": "Anna", "text": "Good morning."}
DISCORD = {"type": "Default", "isPinned": False, "content": "Good morning.", "author": {"name": "anna"}}


@pytest.mark.parametrize(
    "value", [[SLACK], {"ok": True, "messages": [SLACK]}, {"value": [TEAMS]}, {"messages": [TELEGRAM]}, [DISCORD]]
)
def test_messages_are_no_call(value):
    with pytest.raises(ItemFailure, match="not_a_call: a chat"):
        read(json.dumps(value).encode())


def test_the_first_of_them_may_be_another_event():
    with pytest.raises(ItemFailure, match="not_a_call: a chat"):
        read(json.dumps([{"text": "U1 has joined.", "user": "U1"}, SLACK]).encode())


def test_more_messages_than_a_call_has_turns_are_a_chat():
    with pytest.raises(ItemFailure, match="not_a_call: a chat"):
        read(json.dumps([{"user": "U1", "text": "Good", "ts": "1"}] * 200_001).encode())


def test_a_list_of_what_holds_no_words_is_unknown():
    with pytest.raises(ItemFailure, match="unknown shape"):
        read(b'{"value": [{"id": "1", "createdDateTime": "2026-11-30", "transcriptContentUrl": "x"}]}')


@pytest.mark.parametrize("name", ["chat", "messages"])
@pytest.mark.parametrize("said", [[{"speaker": "Anna", "text": "We renew in May."}], "Anna: We renew in May."])
def test_messages_beside_speech_are_left_out_and_counted(name, said):
    reading = read(json.dumps({name: [SLACK, SLACK], "transcript": said}).encode())
    assert [each.place for each in reading.warnings if each.code == "chat_left_out"] == ["2 messages"]
    assert reading.transcript.turns[0].text.endswith("We renew in May.")
