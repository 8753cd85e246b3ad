"""Plain text: speakers by repeated evidence, prose left alone, nothing trimmed inside a turn."""

import pytest

from pipeline.domain.documents import Turn
from pipeline.transcripts.read import read


def turns(text):
    reading = read(text.encode())
    assert reading.format == "plain"
    return [(turn.speaker, turn.text) for turn in reading.transcript.turns]


def test_a_turn_runs_until_the_next_speaker():
    assert turns("Anna: one\n  two \n\nthree\n\nBen:\nfour\nAnna:   five\n") == [
        ("Anna", "one\n  two \n\nthree"),
        ("Ben", "four"),
        ("Anna", "  five"),
    ]


def test_times_in_brackets_open_turns_with_or_without_a_name():
    found = read(b"[00:00:05] Anna: hi\n(1:02:03) no name\n[0:07] Ben: ho\n[0:09] Anna: end").transcript.turns
    assert found == (
        Turn(text="hi", speaker="Anna", start=5.0),
        Turn(text="no name", start=3723.0),
        Turn(text="ho", speaker="Ben", start=7.0),
        Turn(text="end", speaker="Anna", start=9.0),
    )


@pytest.mark.parametrize(
    "prose",
    [
        "The short answer: no.\nNote: pricing was confirmed on 12:30.\nTwo options remain: buy or build.",
        "Note: one\nNote: two\nNote: three",
        "We met at 12:30: it went well. See https://example.org: fine.",
        "Budget: 10k\nTimeline: summer\nDecision: in June",
        "Budget: They have 10k.\nTimeline: Summer suits them.",
        "Budget: 10k\nTimeline: summer\nSignature: who?",
    ],
)
def test_prose_with_colons_is_one_block(prose):
    assert turns(prose + "\n") == [(None, prose)]


def test_bold_names_fullwidth_colons_and_names_that_look_odd_are_speakers():
    assert turns("**Anna:** Good morning.\n\n**Anna:** b") == [("Anna", "Good morning."), ("Anna", "b")]
    assert turns("客户：你好，我想看看报价单。\n顾问：好\n客户：再见")[1:] == [("顾问", "好"), ("客户", "再见")]  # noqa: RUF001 - Chinese writes it so
    assert turns("Dr. J. O'Neil-Smith [ext] @ Rye: Good morning.\nDr. J. O'Neil-Smith [ext] @ Rye: b")[1][1] == "b"


def test_a_speaker_who_says_one_thing_is_known_by_the_company():
    assert turns("Anna: Good morning.\nBen: b\nAnna: c\nand d")[1:] == [("Ben", "b"), ("Anna", "c\nand d")]


def test_where_every_line_is_labelled_a_label_that_is_no_name_is_not_the_last_speakers():
    found = turns("Anna: Shall we?\nBen: Good.\nAnna: Fine.\nthe carrier: I will send it.\nBen: Bye.")
    assert found[3:] == [(None, "the carrier: I will send it."), ("Ben", "Bye.")]


def test_headings_within_a_turn_are_no_speakers():
    text = "Anna: We have\nSeats: fifty of them.\n\nBen: Good.\n\nAnna: Fine.\n\nBen: Yes.\n\nCarl: Bye.\n"
    assert [speaker for speaker, _ in turns(text)] == ["Anna", "Ben", "Anna", "Ben", "Carl"]
    assert [speaker for speaker, _ in turns("Anna: Good morning.\nPricing: 500\nBen: b\nAnna: c\nStep 2: d")] == [
        "Anna",
        "Ben",
        "Anna",
    ]


@pytest.mark.parametrize("mark", ["- ", "> ", ">> ", ">>", "\u2022 ", "12. ", "| ", "* "])
def test_marks_before_a_name_are_no_part_of_it(mark):
    text = f"{mark}Anna: We renew.\n{mark}[0:05] Ben: Good.\n{mark}Anna: Bye.\n{mark}Ben: Bye."
    assert turns(text) == [("Anna", "We renew."), ("Ben", "Good."), ("Anna", "Bye."), ("Ben", "Bye.")]


@pytest.mark.parametrize("end", [":-", " :", "|:", " | :", "_:"])
def test_marks_behind_a_name_are_no_part_of_it(end):
    assert turns(f"{'_' * (end == '_:')}Anna{end} We renew.\nBen{end} Good.\nAnna{end} Bye.\nBen{end} Bye.")[:2] == [
        ("Anna", "We renew."),
        ("Ben", "Good."),
    ]


def test_a_quotation_is_no_speaker():
    text = 'Anna: I said\n"Ben: Good."\nBen: Yes.\nAnna: Bye.\n"Ben: Good."'
    assert [speaker for speaker, _ in turns(text)] == ["Anna", "Ben", "Anna"]


def test_a_time_of_day_is_told_from_the_name_and_is_no_start():
    reading = read(b"10:15 AM Anna: We renew.\n10:16:05 a.m. Ben: Good.\n[10:17 PM] Anna: Bye.\n10:17 PM Ben: Bye.")
    assert [(turn.speaker, turn.start, turn.text) for turn in reading.transcript.turns][:3] == [
        ("Anna", None, "We renew."),
        ("Ben", None, "Good."),
        ("Anna", None, "Bye."),
    ]
    assert ("unreadable_timing", "4 times") in [(each.code, each.place) for each in reading.warnings]


@pytest.mark.parametrize("stamp", ["2026-11-30T10:00:0{}Z", "2026-11-30 10:00:0{}", "[2026-11-30T10:00:0{}+01:00]"])
def test_a_date_is_told_from_the_name_and_is_no_start(stamp):
    reading = read("\n".join(f"{stamp.format(n)} {(n % 2 and 'Ben') or 'Anna'}: We renew." for n in range(4)).encode())
    assert {(turn.speaker, turn.start) for turn in reading.transcript.turns} == {("Anna", None), ("Ben", None)}
    assert ("unreadable_timing", "4 times") in [(each.code, each.place) for each in reading.warnings]


def test_a_time_may_stand_behind_the_name():
    found = read(b"Anna: [0:01] We renew.\nBen: [0:05] Good.\nAnna: Fine.\nBen: [0:09] Bye.").transcript.turns
    assert [(turn.speaker, turn.start) for turn in found] == [("Anna", 1), ("Ben", 5), ("Anna", None), ("Ben", 9)]


def test_times_without_brackets_open_turns_where_nearly_every_line_has_one():
    found = read(b"0:01 We renew.\n0:05 In May,\n0:09 and not before.").transcript.turns
    assert [(turn.start, turn.text) for turn in found] == [(1, "We renew."), (5, "In May,"), (9, "and not before.")]
    assert turns("We met at\n12:30 and ate.\nThen we renewed.") == [
        (None, "We met at\n12:30 and ate.\nThen we renewed.")
    ]


def test_a_time_may_be_two():
    found = read(
        b"[0:01 - 0:04] Anna: We renew.\n0:05-0:09 Ben: Good.\nAnna: Fine.\n[0:11 \xe2\x80\x93 0:12] Yes."
    ).transcript.turns
    assert found == (
        Turn(text="We renew.", speaker="Anna", start=1.0, end=4.0),
        Turn(text="Good.", speaker="Ben", start=5.0, end=9.0),
        Turn(text="Fine.", speaker="Anna"),
        Turn(text="Yes.", start=11.0, end=12.0),
    )


def test_a_name_keeps_its_particles():
    assert turns("Anna: Good morning.\nJerome de Tychey: b\nAnna: c")[1] == ("Jerome de Tychey", "b")


def test_two_lines_are_a_dialogue_when_one_of_them_has_a_role():
    assert turns("Rep: I'll call.\nCustomer: Good.") == [("Rep", "I'll call."), ("Customer", "Good.")]


@pytest.mark.parametrize("end", ["", "\n", "  \n\n"])
def test_two_lines_are_a_dialogue_when_one_asks_and_both_are_sentences(end):
    text = f"Dana: Shall we renew in May?\nBob: Yes, send me the offer.{end}"
    assert [speaker for speaker, _ in turns(text)] == ["Dana", "Bob"]


def test_words_before_the_first_speaker_are_nobodys():
    assert turns("Call of Monday\n\nAnna: a\nAnna: b") == [(None, "Call of Monday"), ("Anna", "a"), ("Anna", "b")]


def test_a_speaker_who_says_nothing_keeps_the_turn():
    assert turns("Anna: Good morning.\nBen: \nAnna: c\nBen:")[1:] == [("Ben", ""), ("Anna", "c"), ("Ben", "")]


def test_unusual_line_separators_do_not_cut_a_line():
    assert turns("Anna: a\u2028Anna: b\u0085c\x0bd\rAnna: e") == [("Anna", "a\u2028Anna: b\u0085c\x0bd"), ("Anna", "e")]


def test_a_time_on_a_line_alone_opens_the_turn_below_it():
    text = b"Call\n0:05\nWe renew.\n\n0:09\n\nAnna: In May.\nAnna: Yes.\n[0:20]\nAnna: Good.\n1:00:00\n"
    assert read(text).transcript.turns == (
        Turn(text="Call"),
        Turn(text="We renew.", start=5.0),
        Turn(text="In May.", speaker="Anna", start=9.0),
        Turn(text="Yes.", speaker="Anna"),
        Turn(text="Good.", speaker="Anna", start=20.0),
    )


def test_front_matter_is_left_out_and_counted():
    reading = read(b"---\ntitle: A: b\ntags:\n  - x\n- y\n\n---\n\nAnna: We renew.\nAnna: In May.\n")
    assert [turn.text for turn in reading.transcript.turns] == ["We renew.", "In May."]
    assert ("front_matter_left_out", "6 lines") in [(each.code, each.place) for each in reading.warnings]


@pytest.mark.parametrize(
    "text",
    [
        "---\nAnna said so.\n---\nAnd then.",
        "---\ntitle: x\n\nWe renew in May.",
        "---\nwhen: we renew\nwhere: here\n---\n",
    ],
)
def test_rules_around_words_are_no_front_matter(text):
    assert turns(text) == [(None, text.strip("\n"))]


@pytest.mark.parametrize(
    "text",
    ["---\nAnna: a\nBen: b\n---\nAnna: We renew.\nBen: d", "---\nAnna: a\nBen: b\nAnna: c\nBen: d\n---\nWe renew."],
)
def test_speech_between_two_rules_is_no_front_matter(text):
    assert turns(text)[1:3] in ([("Anna", "a"), ("Ben", "b\n---")], [("Anna", "a"), ("Ben", "b")])


@pytest.mark.parametrize(
    "times",
    [
        "[0:00:01.000 --> 0:00:02.000]",
        "00:0x:01.000 --> 00:0x:02.000",
        "0:00:01.000, 0:00:02.000",
        "00:00:01,000 \u2192 00:00:02,000",
        "00:00:01,000 --&gt; 00:00:02,000",
        "00:00:01,000 \u00e0 00:00:02,000",
        "00:00:01:12 --> 00:00:02:20",
    ],
)
def test_lines_that_look_like_times_and_open_no_turn_are_counted(times):
    said = "Anna: We meet at 10:15.\nBen: Fine, that is in ten minutes.\n"
    reading = read(f"{said}{times}\nAnna: Good morning.\nBen: Hello.\n{times}\nAnna: We ship.\n".encode())
    assert reading.format == "plain"
    assert [(warning.code, warning.place) for warning in reading.warnings] == [("timing_lines_lost", "2 of 2 lines")]


def test_times_that_open_a_turn_are_not_lost():
    assert read(b"0:01 - 0:02 Anna: We meet at 10:15?\n0:03 - 0:04 Ben: That is fine.\n").warnings == ()


def test_labels_may_stand_in_brackets():
    assert turns("[SPEAKER_00]: Good morning.\n[SPEAKER_01]: Hello.\n[SPEAKER_00]: [laughs] Yes.\n") == [
        ("SPEAKER_00", "Good morning."),
        ("SPEAKER_01", "Hello."),
        ("SPEAKER_00", "[laughs] Yes."),
    ]
    assert turns("[1]: https://a.example\n[2]: https://b.example\nSo much for the links.\n")[0][0] is None


def test_what_stands_in_brackets_behind_a_name_is_not_a_part_of_it():
    text = "DANA (smiling): We renew.\nBOB: Good.\nDANA: In May.\nBOB (nods): Fine."
    assert [speaker for speaker, _ in turns(text)] == ["DANA (smiling)", "BOB", "DANA", "BOB (nods)"]


def test_answers_below_the_one_who_asks_are_not_given_to_him():
    text = "Dana: How are you?\nBob: Good.\n\nDana: Shall we renew?\nCarl: Yes.\n"
    assert [speaker for speaker, _ in turns(text)] == ["Dana", None, "Dana", None]


def test_fields_of_a_form_are_no_speakers():
    text = "Call 1\nOwner: Dana\nStage: Demo\n\nCall 2\nOwner: Bob\nStage: Closing"
    assert turns(text) == [(None, text)]


def test_a_time_before_every_label_proves_that_somebody_speaks():
    found = turns("0:01 Dana Kim: We renew in May.\n\n0:05 Bob Roe: Good.\n")
    assert found == [("Dana Kim", "We renew in May."), ("Bob Roe", "Good.")]
