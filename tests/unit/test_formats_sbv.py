from pipeline.domain.documents import Turn
from pipeline.transcripts.read import read


def test_each_pair_of_times_opens_a_cue():
    reading = read(
        b"0:00:01.000,0:00:03.500\r\nAnna: Good morning, all.\r\nBen: Hi.\r\n\r\n"
        b"1:00:03.500,1:00:05.000\r\nAnna: We meet at 10:15,\r\nor 10:30.\r\n"
    )
    assert (reading.format, reading.warnings) == ("sbv", ())
    assert reading.transcript.turns == (
        Turn(text="Good morning, all.", speaker="Anna", start=1.0, end=3.5),
        Turn(text="Hi.", speaker="Ben", start=1.0, end=3.5),
        Turn(text="We meet at 10:15,\nor 10:30.", speaker="Anna", start=3603.5, end=3605.0),
    )


def test_a_time_that_nobody_can_read_is_counted_and_its_words_are_kept():
    reading = read(b"0:00:01.000,0:00:02.000\nGood morning.\n\n0:00:0x.000,0:00:04.000\nWe ship.\n")
    assert [(turn.text, turn.start) for turn in reading.transcript.turns] == [
        ("Good morning.", 1.0),
        ("We ship.", None),
    ]
    assert [(warning.code, warning.place) for warning in reading.warnings] == [
        ("unreadable_timing", "line 4"),
        ("speakers_missing", "1 turns"),
    ]
