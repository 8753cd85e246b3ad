"""WebVTT as tools really write it: every word kept, every doubt counted."""

import pytest

from pipeline.domain.documents import Turn, Warning
from pipeline.transcripts.read import read


def turns(body):
    reading = read(("WEBVTT\n\n" + body).encode())
    assert reading.format == "vtt"
    return list(reading.transcript.turns)


def doubts(reading):
    return tuple(warning for warning in reading.warnings if "speakers" not in warning.code)


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


def test_names_in_zoom_hold_brackets_pipes_colons_and_many_words():
    names = [
        "[Rye] Anna", "(she/her) Ben", "Cleo | Rye @ home", "Room 3:B", "Conference Room 3 - Main Building North Wing",
        "#1 Dan", "Élodie\xa0Roy", "王芳",
    ]  # fmt: skip
    body = "".join(
        f"{n}\r\n00:00:0{n % 9}.000 --> 00:00:09.000\r\n{name}: a: b\xa0c\r\n\r\n" for n, name in enumerate(names * 2)
    )
    assert [(turn.speaker, turn.text) for turn in turns(body)] == [(name, "a: b\xa0c") for name in names * 2]


def test_teams_without_names_puts_an_empty_line_below_the_times_and_no_header_above():
    reading = read(
        b"00:00:16.246 --> 00:00:17.726\r\n\r\nWe start.\r\n\r\n00:00:18.000 --> 00:00:19.000\r\n\r\nYes\r\n"
    )
    found = [(turn.speaker, turn.text, turn.start) for turn in reading.transcript.turns]
    assert (found, doubts(reading)) == ([(None, "We start.", 16.246), (None, "Yes", 18.0)], ())


def test_words_between_an_empty_cue_and_the_next_times_are_no_id():
    times = "00:01.000 --> 00:02.000\n"
    assert [turn.text for turn in turns(f"{times}\nWe start.\n{times}\n1f-2/3\n{times}yes\n")] == [
        "We start.",
        "",
        "yes",
    ]


def test_a_line_above_the_times_that_is_too_long_for_an_id_is_kept_as_words():
    words = " ".join(map(str, range(100)))
    reading = read(f"WEBVTT\n\n{words}\n00:01.000 --> 00:02.000\nPayload\n".encode())
    assert [turn.text for turn in reading.transcript.turns] == [words, "Payload"]
    assert "text_outside_cues" in {warning.code for warning in reading.warnings}


def test_speakers_may_stand_above_the_times():
    times = "00:01.000 --> 00:02.000\n"
    webex = turns(f'1 "Anna Kim" (3603207424)\n{times}hi all\n\n2 "Ben: Rye" (12)\n{times}Note: ho ho\n')
    assert [(turn.speaker, turn.text) for turn in webex] == [("Anna Kim", "hi all"), ("Ben: Rye", "Note: ho ho")]
    named = turns("".join(f"{name}\n{times}hi there, all\n\n" for name in ("Anna", "Ben", "Anna")))
    assert [turn.speaker for turn in named] == ["Anna", "Ben", "Anna"]
    chapters = turns("".join(f"Chapter {n}\n{times}hi there {n}\n\n" for n in range(3)))
    assert [turn.speaker for turn in chapters] == [None, None, None]


def test_the_metadata_of_graph_name_the_speaker_in_json():
    said = '{"speakerName":"Kim, Anna","spokenText":"It is \\"fine\\"."}'
    (one, two) = turns(f"00:01.000 --> 00:02.000\n{said}\n\n00:02.000 --> 00:03.000\nnot json\n")
    assert (one.speaker, one.text, one.start) == ("Kim, Anna", 'It is "fine".', 1.0)
    assert (two.speaker, two.text) == (None, "not json")


def test_words_behind_the_times_are_kept_and_settings_are_not():
    found = turns("00:01.000 --> 00:02.000 line up here\nand there\n\n00:02.000 --> 00:03.000  align:start line:0\nb\n")
    assert [turn.text for turn in found] == ["line up here\nand there", "b"]


def test_lines_that_look_like_times_and_open_no_cue_are_counted():
    body = "00:01.000 --> 00:02.000\na --> b\n\n00:02.000 x--> 00:03.000\nb\n\nfrom 10:30 --> 11:00\n"
    warnings = {warning.code: warning.place for warning in doubts(read(f"WEBVTT\n\n{body}".encode()))}
    assert warnings == {"text_outside_cues": "line 6 and 1 more", "timing_lines_lost": "2 of 3 lines"}


def test_blanks_at_the_end_are_no_words():
    assert doubts(read(b"WEBVTT\n\n00:01.000 --> 00:02.000\nall the words\n\n \n\n  ")) == ()


def test_cues_without_an_empty_line_between_them_are_cues():
    times = "00:01.000 --> 00:02.000\n"
    found = turns(f"{times}{times}a\n2\n{times}b\nb\n33\n{times}44\n{times}and the rest")
    assert [turn.text for turn in found] == ["", "a", "b\nb", "44", "and the rest"]


def test_a_long_line_and_nul_characters_are_one_cue():
    words = "".join(map(chr, range(0x4E00, 0x4E00 + 8_000)))
    reading = read(f"WEBVTT\n\n00:00:00.000 --> 00:00:01.000\x00align:end\n{words}\x00".encode())
    assert [turn.text for turn in reading.transcript.turns] == [words + "\ufffd"]
    assert {warning.code for warning in doubts(reading)} == {"replaced_characters"}


def test_a_time_before_the_recording_is_left_out_and_counted():
    reading = read(b"WEBVTT\n\n-00:00:02.500 --> 00:00:01.250\n<v Anna>I am a bit late</v>\n")
    assert [(turn.text, turn.start) for turn in reading.transcript.turns] == [("I am a bit late", None)]
    assert doubts(reading) == (Warning(code="unreadable_timing", place="line 3"),)


def test_notes_styles_and_headers_are_no_speech():
    head = "<!-- x -->\nwebvtt - title\nKind: captions\n\nNOTE\na note\n\nSTYLE\n::cue {}\n\n"
    text = head + "00:01.000 --> 00:02.000\nGood morning.\n\nNOTE bye\n"
    reading = read(text.encode())
    assert ([turn.text for turn in reading.transcript.turns], doubts(reading)) == (["Good morning."], ())


def test_comma_decimals_missing_zeros_and_second_sixty_lose_no_cue():
    found = turns(
        "0:1:2,5 --> 0:1:3,250\nGood morning.\n\n00:00:60.000 --> 00:01:01.000\nb\n\n00:01:01.123456 --> 00:01:02\nc\n"
    )
    assert [(turn.text, turn.start) for turn in found] == [("Good morning.", 62.5), ("b", 60.0), ("c", 61.123456)]


def test_a_timing_line_that_cannot_be_read_keeps_its_words_and_is_counted():
    body = "x00:00:01.000 --> 00:00:02.000\nGood morning.\n\n00:09.000 --> 00:08.000\nb\n\n00:09.000 --> 00:10.000\nc\n"
    reading = read(f"WEBVTT\n\n{body}".encode())
    assert [(turn.text, turn.start, turn.end) for turn in reading.transcript.turns] == [
        ("Good morning.", None, None),
        ("b", 9.0, None),
        ("c", 9.0, 10.0),
    ]
    assert doubts(reading) == (Warning(code="unreadable_timing", place="line 3 and 1 more"),)


def test_words_below_an_empty_line_are_a_turn_of_their_own_and_counted():
    reading = read(b"WEBVTT\n\n00:01.000 --> 00:02.000\nAnna\n\nstill her\n\nmy id\n00:02.000 --> 00:03.000\nb\n")
    assert [turn.text for turn in reading.transcript.turns] == ["Anna", "still her", "b"]
    assert doubts(reading) == (Warning(code="text_outside_cues", place="line 6"),)


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


def test_rolling_captions_whose_stamps_were_taken_away_are_known_by_their_repeated_lines():
    texts = ["so the pilot", "so the pilot\nstarts in May", "starts in May", "starts in May\nyes", "yes\nyes"]
    body = "".join(f"00:0{n}.000 --> 00:0{n}.900\n{text}\n\n" for n, text in enumerate(texts))
    assert [turn.text for turn in turns(body)] == ["so the pilot", "starts in May", "", "yes", ""]
    assert [turn.text for turn in read(body.encode()).transcript.turns] == [
        "so the pilot",
        "starts in May",
        "",
        "yes",
        "",
    ]


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


def test_two_labels_in_a_cue_are_two_turns():
    found = turns("00:01.000 --> 00:02.000\nAnn: hi there\nBob: hello\n\n00:02.000 --> 00:03.000\nBob: well\n")
    assert [(turn.speaker, turn.text, turn.start) for turn in found] == [
        ("Ann", "hi there", 1.0),
        ("Bob", "hello", 1.0),
        ("Bob", "well", 2.0),
    ]


@pytest.mark.parametrize(
    ("first", "second", "starts"),
    [
        ("0:0:9.80 --> 0:0:9.900", "0:0:9.9 --> 0:10:11.0", [9.08, 9.009]),  # as Teams wrote until 2023
        ("0:0:9.8 --> 0:0:9.95", "0:0:9.9 --> 0:10:11.05", [9.8, 9.9]),  # a zero that counted milliseconds have not
        ("00:00:09.8 --> 00:00:09.95", "00:00:09.9 --> 00:00:11.5", [9.8, 9.9]),
        ("0:09.5 --> 0:09.75", "0:10.5 --> 0:11.5", [9.5, 10.5]),
        ("0:0:9,5 --> 0:0:9,75", "0:0:10,5 --> 0:0:11,5", [9.5, 10.5]),
    ],
)
def test_a_fraction_counts_milliseconds_where_teams_wrote_it_and_is_a_decimal_elsewhere(first, second, starts):
    cues = f"{first}\nGood morning.\n\n{second}\nHi.\n"
    assert [turn.start for turn in turns(cues)] == starts
    assert [turn.start for turn in read(cues.encode()).transcript.turns] == starts


def test_who_speaks_once_is_known_where_most_captions_have_names():
    cues = ["Ann Lee: We renew in May.", "and send the offer", "Bob Ray: Good."]
    text = "WEBVTT\n\n" + "".join(f"00:0{n}.000 --> 00:0{n + 1}.000\n{cue}\n\n" for n, cue in enumerate(cues))
    assert [turn.speaker for turn in read(text.encode()).transcript.turns] == ["Ann Lee", None, "Bob Ray"]


def test_colons_in_few_captions_are_no_names():
    cues = ["Pricing: five hundred", "and so on", "we renew", "Next: the offer"]
    text = "WEBVTT\n\n" + "".join(f"00:0{n}.000 --> 00:0{n + 1}.000\n{cue}\n\n" for n, cue in enumerate(cues))
    assert {turn.speaker for turn in read(text.encode()).transcript.turns} == {None}


def test_a_voice_may_be_written_in_capitals():
    (turn,) = read(b"WEBVTT\n\n00:01.000 --> 00:04.000\n<V Dana>We renew in May.</V>\n").transcript.turns
    assert (turn.speaker, turn.text) == ("Dana", "We renew in May.")
