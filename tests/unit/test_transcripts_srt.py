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
