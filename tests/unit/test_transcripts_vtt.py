"""WebVTT as tools really write it: every word kept, every doubt counted."""

import pytest

from pipeline.domain.documents import Turn, Warning
from pipeline.transcripts.read import read


def turns(body):
    reading = read(("WEBVTT\n\n" + body).encode())
    assert reading.format == "vtt"
    return list(reading.transcript.turns)


def test_a_zoom_export_gives_a_turn_with_name_and_times_for_each_cue():
    zoom = (
        "WEBVTT\r\n\r\n1\r\n00:00:01.500 --> 00:00:03.000\r\nAnna Kim | Rye (she/her): Hi: all\r\n\r\n"
        "2\r\n00:00:03.100 --> 01:00:04.000\r\nBen: Hello.\r\n\r\n3\r\n01:00:05.000 --> 01:00:06.000\r\nBen: Yes.\r\n"
    )
    assert read(zoom.encode()).transcript.turns == (
        Turn(text="Hi: all", speaker="Anna Kim | Rye (she/her)", start=1.5, end=3.0),
        Turn(text="Hello.", speaker="Ben", start=3.1, end=3604.0),
        Turn(text="Yes.", speaker="Ben", start=3605.0, end=3606.0),
    )


def test_voices_may_be_closed_open_classed_and_several_in_one_cue():
    found = turns(
        "5d0c/1-0\n00:01.000 --> 00:02.000\n<v Last, First>wrapped\nline</v>\n\n"
        "00:02.000 --> 00:03.000\n<v.loud Anna>one</v>\n<v Ben>two\n\n00:03.000 --> 00:04.000\nnobody\n"
    )
    assert [(turn.speaker, turn.text) for turn in found] == [
        ("Last, First", "wrapped\nline"),
        ("Anna", "one"),
        ("Ben", "two"),
        (None, "nobody"),
    ]


def test_account_ids_become_stable_labels():
    one, two = (
        "00000000-0000-4000-8000-00000000000a@11111111-1111-4111-8111-111111111111",
        "0" * 8 + "-0000" * 3 + "-" + "b" * 12,
    )
    found = turns(
        "".join(f"0:0:{n}.80 --> 0:0:{n}.900\n<v {who}>Good morning.</v>\n\n" for n, who in enumerate([one, two, one]))
    )
    assert [(turn.speaker, turn.start) for turn in found] == [
        ("Speaker 1", 0.08),
        ("Speaker 2", 1.08),
        ("Speaker 1", 2.08),
    ]


def test_tags_go_and_entities_are_decoded_once_and_spoken_markup_stays():
    (turn,) = turns("00:01.000 --> 00:02.000\n<i>R&amp;D</i> typed &lt;b&gt; &amp;lt;\n5 < 6 &nbsp;> 4 <COUGH/> AT&T\n")
    assert turn.text == "R&D typed <b> &lt;\n5 < 6  > 4 <COUGH/> AT&T"


def test_notes_styles_and_headers_are_no_speech():
    head = "<!-- x -->\nwebvtt - title\nKind: captions\n\nNOTE\na note\n\nSTYLE\n::cue {}\n\n"
    text = head + "00:01.000 --> 00:02.000\nGood morning.\n\nNOTE bye\n"
    reading = read(text.encode())
    assert ([turn.text for turn in reading.transcript.turns], reading.warnings) == (["Good morning."], ())


def test_comma_decimals_missing_zeros_and_second_sixty_lose_no_cue():
    found = turns(
        "0:1:2,5 --> 0:1:3,250\nGood morning.\n\n00:00:60.000 --> 00:01:01.000\nb\n\n00:01:01.123456 --> 00:01:02\nc\n"
    )
    assert [(turn.text, turn.start) for turn in found] == [("Good morning.", 62.005), ("b", 60.0), ("c", 61.123456)]


def test_a_timing_line_that_cannot_be_read_keeps_its_words_and_is_counted():
    body = "x00:00:01.000 --> 00:00:02.000\nGood morning.\n\n00:09.000 --> 00:08.000\nb\n\n00:09.000 --> 00:10.000\nc\n"
    reading = read(f"WEBVTT\n\n{body}".encode())
    assert [(turn.text, turn.start, turn.end) for turn in reading.transcript.turns] == [
        ("Good morning.", None, None),
        ("b", 9.0, None),
        ("c", 9.0, 10.0),
    ]
    assert reading.warnings == (Warning(code="unreadable_timing", place="line 3 and 1 more"),)


def test_words_below_an_empty_line_are_a_turn_of_their_own_and_counted():
    reading = read(b"WEBVTT\n\n00:01.000 --> 00:02.000\nAnna\n\nstill her\n\nmy id\n00:02.000 --> 00:03.000\nb\n")
    assert [turn.text for turn in reading.transcript.turns] == ["Anna", "still her", "b"]
    assert reading.warnings == (Warning(code="text_outside_cues", place="line 6"),)


def test_an_arrow_in_speech_is_speech():
    (turn,) = turns("00:01.000 --> 00:02.000\nwe go from a --> b\n")
    assert turn.text == "we go from a --> b"


def test_blank_cues_and_repeated_cues_stay():
    one, two = "00:01.000 --> 00:02.000\n", "00:02.000 --> 00:03.000\n"
    assert [
        turn.text for turn in turns(f"{one}yes, yes\n\n{one}\n{one}yes, yes\n\n{two}yes, yes\n\n{two} \nyes \n")
    ] == [
        "yes, yes",
        "",
        "yes, yes",
        "yes, yes",
        " \nyes ",
    ]


def test_rolling_captions_say_each_word_once_and_keep_each_cue():
    found = turns(
        "00:01.000 --> 00:02.000\nwell\n\n00:02.000 --> 00:03.000\nwell\nthis<00:00:02.500><c> is</c>\n\n"
        "00:03.000 --> 00:04.000\nthis is\n \n\n00:04.000 --> 00:05.000\nit\n"
    )
    assert [turn.text for turn in found] == ["well", "this is", "", "it"]


def test_two_people_who_say_one_thing_each_are_known_by_their_cues():
    cue = "00:01.000 --> 00:02.000\n"
    assert [turn.speaker for turn in turns(f"{cue}Anna: Good morning.\n\n{cue}Ben: Hello\n")] == ["Anna", "Ben"]


@pytest.mark.parametrize("label", ["The thing is", "Note", "Really? Sure"])
def test_a_colon_in_a_caption_is_not_a_speaker(label):
    (first, _) = turns(f"00:01.000 --> 00:02.000\n{label}: we go\n\n00:02.000 --> 00:03.000\nand on\n")
    assert (first.speaker, first.text) == (None, f"{label}: we go")


def test_how_a_name_is_spoken_does_not_make_it_less_of_a_name():
    found = turns(
        "00:01.000 --> 00:02.000\nANNA:\nThe price is final.\n\n00:02.000 --> 00:03.000\nANNA:\nIs it?\n\n"
        "00:03.000 --> 00:04.000\nBEN ( whispering ):\nI hope so.\n"
    )
    assert [turn.speaker for turn in found] == ["ANNA", "ANNA", "BEN ( whispering )"]
