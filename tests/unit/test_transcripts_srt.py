"""SubRip and other files with timing lines."""

from pipeline.domain.documents import Turn
from pipeline.transcripts.read import read


def test_a_speaker_named_once_speaks_until_the_next_name():
    srt = (
        "1\r\n00:00:01,000 --> 00:00:02,500\r\nAnna: Hi <i>there</i>\r\n\r\n"
        "2\r\n00:00:03,000 --> 00:00:04,000\r\n{\\an8}R&amp;D"
        "\r\n\r\n3\r\n00:00:05,000 --> 00:00:06,000\r\nBen:\r\nMorning\r\n\r\n"
        "4\r\n00:00:07,000 --> 00:00:08,000\r\nAnna: Bye\r\n"
    )
    reading = read(srt.encode())
    assert (reading.format, reading.warnings) == ("srt", ())
    assert reading.transcript.turns == (
        Turn(text="Hi there", speaker="Anna", start=1.0, end=2.5),
        Turn(text="R&amp;D", speaker="Anna", start=3.0, end=4.0),
        Turn(text="Morning", speaker="Ben", start=5.0, end=6.0),
        Turn(text="Bye", speaker="Anna", start=7.0, end=8.0),
    )


def test_numbers_are_no_words_whatever_the_blank_lines_between():
    times = "00:00:01,000 --> 00:00:02,000\n"
    srt = f"1\n{times}Good morning.\n2\n{times}b\n \n3\n\n{times}\n4\n{times}42\n"
    reading = read(srt.encode())
    assert [turn.text for turn in reading.transcript.turns] == ["Good morning.", "b", "", "42"]
    assert {warning.code for warning in reading.warnings} == {"speakers_missing"}


def test_timing_lines_without_numbers_or_header_are_cues_too():
    reading = read(b"00:01.000 --> 00:02.000\nhi\n\n00:02.000 --> 00:03.000\nGood morning.\n")
    assert (reading.format, [turn.text for turn in reading.transcript.turns]) == ("srt", ["hi", "Good morning."])


def srt(*texts):
    """One cue for each, and whose the turns are that it gives."""
    cues = "".join(f"{n}\n00:00:0{n},000 --> 00:00:0{n},900\n{text}\n\n" for n, text in enumerate(texts, start=1))
    return [(turn.speaker, turn.text, turn.start) for turn in read(cues.encode()).transcript.turns]


def test_two_labels_in_a_cue_are_two_turns_with_its_times():
    assert srt("Ann: hi, is it\nfine by you?\nBob: it is", "and so\nAnn:\nwe sign") == [
        ("Ann", "hi, is it\nfine by you?", 1.0),
        ("Bob", "it is", 1.0),
        ("Bob", "and so", 2.0),
        ("Ann", "we sign", 2.0),
    ]


def test_a_wrapped_line_with_a_colon_in_it_is_not_a_label():
    assert srt(
        "Ann: we have one\nquestion: when?", "Bob: the answer\nis this: soon", "Ann: one more\nquestion: who?"
    ) == [
        ("Ann", "we have one\nquestion: when?", 1.0),
        ("Bob", "the answer\nis this: soon", 2.0),
        ("Ann", "one more\nquestion: who?", 3.0),
    ]


def test_what_stands_behind_a_dash_is_somebody_elses_and_so_is_what_follows_it():
    assert srt("Ann: shall we sign?", "- Yes.\n- No.", "not yet", "Ann: why\n- because", "Ann: oh", "-- I see") == [
        ("Ann", "shall we sign?", 1.0),
        (None, "- Yes.\n- No.", 2.0),
        (None, "not yet", 3.0),
        ("Ann", "why", 4.0),
        (None, "- because", 4.0),
        ("Ann", "oh", 5.0),
        ("Ann", "-- I see", 6.0),
    ]


def test_a_name_behind_a_dash_names_the_speaker():
    assert srt("- Ann: shall we sign?\n- Bob: yes", ">> Ann: good", ">> thank you", "\u2013 Bob: bye\n\u2013 bye") == [
        ("Ann", "shall we sign?", 1.0),
        ("Bob", "yes", 1.0),
        ("Ann", "good", 2.0),
        (None, ">> thank you", 3.0),
        ("Bob", "bye", 4.0),
        (None, "\u2013 bye", 4.0),
    ]


def test_a_name_in_brackets_is_the_name():
    assert srt("[SPEAKER_00]: shall we?", "[Rye] Jo: no", "[SPEAKER_00]: oh", "[Rye] Jo: well") == [
        ("SPEAKER_00", "shall we?", 1.0),
        ("[Rye] Jo", "no", 2.0),
        ("SPEAKER_00", "oh", 3.0),
        ("[Rye] Jo", "well", 4.0),
    ]
