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
