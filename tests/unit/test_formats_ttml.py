import pytest

from pipeline.domain.documents import Turn
from pipeline.errors import ItemFailure
from pipeline.transcripts.read import read

TT = '<tt xmlns="http://www.w3.org/ns/ttml" xmlns:ttp="http://www.w3.org/ns/ttml#parameter" xml:lang="en"'


def of(paragraphs, given=""):
    head = "<head><metadata><title>A call</title></metadata></head>"
    return read(f"<?xml version='1.0' encoding='UTF-16'?>\n<!-- x -->\n{TT}{given}>{head}{paragraphs}</tt>".encode())


def test_each_paragraph_is_a_turn_and_lines_break_where_it_says():
    reading = of(
        '<body><div><p begin="00:00:01.500" end="00:00:03.480">Anna:  Good <span>mor</span>ning,\n all.<br/>R&amp;D?'
        '</p>\n<p begin="01:00:00" dur="2s">Ben: Hi.</p><p begin="3500ms" dur="1.5s">Anna: Yes.</p></div></body>'
    )
    assert (reading.format, reading.warnings) == ("ttml", ())
    assert reading.transcript.turns == (
        Turn(text="Good morning, all.\nR&D?", speaker="Anna", start=1.5, end=3.48),
        Turn(text="Hi.", speaker="Ben", start=3600.0, end=3602.0),
        Turn(text="Yes.", speaker="Anna", start=3.5, end=5.0),
    )


@pytest.mark.parametrize(
    ("begin", "given", "start"),
    [
        ("00:00:01:12", ' ttp:frameRate="24"', 1.5),
        ("00:00:01:15", "", 1.5),
        ("36f", ' ttp:frameRate="24" ttp:frameRateMultiplier="1000 1001"', 1.5015),
        ("15000000t", ' ttp:tickRate="10000000"', 1.5),
        ("36t", ' ttp:frameRate="24"', 1.5),
        ("0.5m", "", 30.0),
        ("0.5h", "", 1800.0),
    ],
)
def test_times_may_be_counted_in_other_units(begin, given, start):
    (turn,) = of(f'<body><div><p begin="{begin}">Good morning, all.</p></div></body>', given).transcript.turns
    assert (turn.start, turn.end) == (start, None)


def test_a_paragraph_begins_after_what_it_stands_in():
    reading = of('<body begin="10s"><div begin="5s"><p begin="1s" end="3s">Good morning.</p><p>Hi.</p></div></body>')
    assert [(turn.start, turn.end) for turn in reading.transcript.turns] == [(16.0, 18.0), (15.0, None)]
    assert of("<body><p>Good morning, all.</p></body>").transcript.turns[0].start is None


def test_times_that_cannot_be_read_are_counted_and_the_words_are_kept():
    reading = of('<body><p begin="soon" end="3s">Good morning.</p><p begin="5s" end="4s">Hi.</p></body>')
    assert [(turn.text, turn.start, turn.end) for turn in reading.transcript.turns] == [
        ("Good morning.", None, None),
        ("Hi.", 5.0, None),
    ]
    assert ("unreadable_timing", "2 times") in {(warning.code, warning.place) for warning in reading.warnings}


@pytest.mark.parametrize(
    "text",
    [
        f"{TT}><body><p>Good morning, all.</p>",
        f'<!DOCTYPE tt [<!ENTITY a "Good morning">]>\n{TT}><body><p>&a;, all.</p></body></tt>',
        f"{TT}><body><p>Good &a; morning, all.</p></body></tt>",
        f"{TT}>" + "<p>" * 2_000_001,
        TT + "".join(f' a{number}=""' for number in range(20_000)) + "><body><p>Good morning, all.</p></body></tt>",
    ],
)
def test_what_is_broken_or_hostile_is_refused(text):
    with pytest.raises(ItemFailure, match="unreadable_input"):
        read(text.encode())
