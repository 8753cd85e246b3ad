import json

import pytest

from pipeline.errors import ItemFailure
from pipeline.transcripts.read import read

TEXT = "**Agent:** Hello, Anna.\n\n**Customer:** Hi.\n\n**Agent:** All fine?\n\n**Customer:** Yes."


@pytest.mark.parametrize("key", ["Content", "transcript"])
def test_the_text_within_is_read_as_plain_text(key):
    data = json.dumps({"ConversationId": "7", "StartTime": "2026-11-30 10:00:00", key: TEXT}).encode()
    turns = read(data).transcript.turns
    assert [(turn.speaker, turn.start) for turn in turns] == [("Agent", None), ("Customer", None)] * 2
    assert turns[0].text == "Hello, Anna."


def test_a_title_above_the_conversation_is_left_out_and_a_warning_says_so():
    reading = read(json.dumps({"Content": "**Support Call**\n\n" + TEXT}).encode())
    assert len(reading.transcript.turns) == 4
    assert [(warning.code, warning.place) for warning in reading.warnings if "speakers" not in warning.code] == [
        ("front_matter_left_out", "1 lines")
    ]


def test_a_text_without_speakers_has_no_title():
    assert (
        read(b'{"Content": "**We sign** the order on Monday."}').transcript.turns[0].text
        == "**We sign** the order on Monday."
    )


def test_an_escape_that_no_text_can_hold_is_replaced():
    assert read(rb'{"Content": "so it is\u0000 \ud800 then"}').transcript.turns[0].text == "so it is\ufffd \ufffd then"


def test_no_text_is_an_empty_input():
    with pytest.raises(ItemFailure, match="empty_input"):
        read(b'{"Content": ""}')


@pytest.mark.parametrize(
    "text",
    [
        "WEBVTT\n\n00:01.000 --> 00:04.000\n<v Agent>Hello, Anna.\n",
        "Agent  0:01\nHello, Anna.\n\nCustomer  0:04\nHi.\n",
        '[{"speaker": "Agent", "text": "Hello, Anna.", "start": 1}]',
    ],
)
def test_a_text_of_another_format_is_read_by_that(text):
    reading = read(json.dumps({"Content": text}).encode())
    assert reading.format == "md_content"
    first = reading.transcript.turns[0]
    assert (first.speaker, first.start, first.text) == ("Agent", 1, "Hello, Anna.")


def test_a_summary_within_or_beside_it_is_told():
    with pytest.raises(ItemFailure, match="not_a_call: a summary"):
        read(json.dumps({"Content": "## Summary\n- a\n- b\n\n## Next steps\n- c\n"}).encode())
    beside = {"summary": "They spoke.", "call_analysis": {"call_summary": "They did."}}
    reading = read(json.dumps({"Content": TEXT} | beside).encode())
    assert [each.place for each in reading.warnings if each.code == "summary_left_out"] == [
        "summary",
        "call_analysis.call_summary",
    ]


@pytest.mark.parametrize(
    ("turns", "start"), [([{"speaker": "Agent", "text": "Hello, Anna.", "startTime": 1}], 1), ([], None)]
)
def test_turns_beside_the_text_say_more(turns, start):
    first = read(json.dumps({"transcript": TEXT, "segments": turns}).encode()).transcript.turns[0]
    assert (first.speaker, first.start, first.text) == ("Agent", start, "Hello, Anna.")
