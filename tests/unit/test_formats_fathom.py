import pytest

from pipeline.errors import ItemFailure
from pipeline.transcripts.read import read

HEAD = """Renewal Northwind - January 29
VIEW RECORDING - 31 mins (No highlights): https://fathom.video/calls/1

---

"""
LINK = "https://fathom.video/calls/1?timestamp=27.9999"


def reading(text):
    found = read(text.encode())
    assert found.format == "fathom"
    return found


def lines(text):
    return [(turn.speaker, turn.start, turn.text) for turn in reading(text).transcript.turns]


def warnings(text):
    return [(warning.code, warning.place) for warning in reading(text).warnings if "speakers" not in warning.code]


def test_a_heading_is_a_time_and_a_name_that_may_hold_a_company():
    text = HEAD + "0:01 - Dana Kim\n  Hello.  All fine?\n  Good.\n\n1:02:03 - Bob Roe (Northwind)\n  We renew.\n"
    assert lines(text) == [("Dana Kim", 1, "Hello.  All fine?\nGood."), ("Bob Roe (Northwind)", 3723, "We renew.")]
    assert warnings(text) == [("front_matter_left_out", "3 lines")]


def test_a_note_is_left_out_and_counted_and_the_speech_behind_its_link_stays():
    text = HEAD + (
        "0:01 - Dana Kim\n  We renew.\n"
        f"  ACTION ITEM: Send the offer\n - WATCH: {LINK}  And so we agreed.\n"
        f"  SCREEN SHARING: Dana started screen sharing - WATCH: {LINK}\n  In May: yes.\n"
    )
    assert lines(text) == [("Dana Kim", 1, "We renew.\nAnd so we agreed.\nIn May: yes.")]
    assert ("notes_left_out", "2 times") in warnings(text)


def test_words_in_capitals_without_a_link_are_speech():
    assert lines(HEAD + "0:01 - Dana Kim\n  NASA: we work with them.\n") == [
        ("Dana Kim", 1, "NASA: we work with them.")
    ]


def test_it_is_known_without_its_head_and_without_indents():
    assert lines("0:01 - Dana Kim\nHello, Bob.\n\n0:04 -\nHi.\n\n0:05 - Dana Kim\nBye.\n") == [
        ("Dana Kim", 1, "Hello, Bob."),
        (None, 4, "Hi."),
        ("Dana Kim", 5, "Bye."),
    ]


def test_speech_behind_a_time_and_a_dash_is_no_name():
    assert read(b"0:05 - We renew in\nMay.\n0:09 - Good, in\nMay.\n0:12 - Yes, and the\noffer.\n").format == "plain"


def test_an_agenda_is_no_transcript():
    assert read(b"Plan\n9:00 - Opening\n9:30 - Talks\n10:30 - Coffee with Dana\n").format == "plain"


def test_the_summary_that_fathom_sends_is_no_call():
    with pytest.raises(ItemFailure, match="not_a_call: a summary that a model wrote"):
        read(
            b"[**VIEW RECORDING - 60 mins**](https://fathom.video/share/x)\n\n## Key Takeaways\n\n- We renew in May.\n"
        )
