import pytest
from word_samples import docx, paragraph

from pipeline.transcripts.read import read

EXPORT = (
    "Dana Kim  0:00  \nGood morning, can you hear me?\n\n"
    "Unknown Speaker  0:04  \nYes. So we\n\n"
    "Bob O'Neill (Northwind)  1:02:03  \nwanted to talk about the renewal.\n\nWhich ends in May.\n\n"
    "Transcribed by https://otter.ai\n"
)
SPOKEN = [
    ("Dana Kim", 0, "Good morning, can you hear me?"),
    ("Unknown Speaker", 4, "Yes. So we"),
    ("Bob O'Neill (Northwind)", 3723, "wanted to talk about the renewal.\n\nWhich ends in May."),
]


def lines(data):
    reading = read(data if isinstance(data, bytes) else data.encode())
    assert reading.format == "otter"
    return [(turn.speaker, turn.start, turn.text) for turn in reading.transcript.turns]


def warnings(text):
    return [(warning.code, warning.place) for warning in read(text.encode()).warnings if "speakers" not in warning.code]


def test_each_paragraph_is_a_turn_and_an_unknown_speaker_has_that_label():
    assert lines(EXPORT) == SPOKEN


def test_names_are_known_when_they_are_bold():
    assert (
        lines(EXPORT.replace("Dana Kim", "**Dana Kim**").replace("Unknown Speaker", "****Unknown Speaker****"))
        == SPOKEN
    )


def test_it_is_read_out_of_a_word_document():
    assert lines(docx(*map(paragraph, EXPORT.splitlines()))) == SPOKEN


def test_the_footer_and_what_stands_on_top_are_left_out_and_counted():
    assert warnings(EXPORT) == [("front_matter_left_out", "1 lines")]
    joined = "Renewal\nSUMMARY KEYWORDS\nrenewal, may\n\n" + EXPORT + EXPORT
    assert lines(joined) == SPOKEN + SPOKEN
    assert warnings(joined) == [("front_matter_left_out", "5 lines")]


@pytest.mark.parametrize(
    "text",
    [
        "Welcome  9:00\nTalks  9:30\nLunch  12:30\n",
        "Minutes of Monday\n\nLunch  12:30\nwas good.\n",
    ],
)
def test_an_agenda_is_no_transcript(text):
    assert read(text.encode()).format == "plain"
