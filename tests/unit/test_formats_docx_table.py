import pytest
from word_samples import docx, paragraph, table

from pipeline.transcripts.read import read


def lines(data):
    return [(turn.speaker, turn.start, turn.end, turn.text) for turn in read(data).transcript.turns]


def warnings(data):
    return [(warning.code, warning.place) for warning in read(data).warnings if "speakers" not in warning.code]


def test_each_row_is_a_turn_and_hundredths_need_no_zero():
    rows = [["0:00:00.4", "5.0s", "Agent", "", "Good morning."], ["0:01:06.31", "2.1s", "Buyer", "", "Hi."]]
    data = docx(table(["Start", "Dur.", "Speaker", "", "Transcription"], *rows))
    assert lines(data) == [("Agent", 0.04, 5.04, "Good morning."), ("Buyer", 66.31, 68.41, "Hi.")]
    assert read(data).format == "docx_table"


@pytest.mark.parametrize(
    "headings", [["Speaker", "Content"], ["NAME:", "Text"], ["participant", " Transcript "], ["**Who**", "Words"]]
)
def test_headings_are_known_in_any_spelling(headings):
    assert lines(docx(table(headings, ["Dana", "We pay in May."]))) == [("Dana", None, None, "We pay in May.")]


def test_a_table_without_speakers_needs_times():
    assert lines(docx(table(["Time", "End", "Text"], ["0:05", "0:07", "Hello, Anna?"]))) == [
        (None, 5, 7, "Hello, Anna?")
    ]


def test_tables_of_the_tool_are_left_out_and_counted():
    data = docx(
        paragraph("Sentiment"),
        table(["Speaker", "Sentiment"], ["Agent", "2.4"]),
        table(["Issues"], ["Speaker", "Turn Time", "Detected Text"], ["Agent", "0:01", "a card was lost"]),
        table(["Speaker", "Content"], ["Agent", "I lost it, yes."], ["", ""]),
        paragraph(""),
    )
    assert lines(data) == [("Agent", None, None, "I lost it, yes.")]
    assert warnings(data) == [("notes_left_out", "3 paragraphs and tables")]


def test_a_time_that_cannot_be_read_is_counted_and_the_words_stay():
    data = docx(table(["Time", "Speaker", "Text"], ["early", "Dana", "We pay."], ["0:09", "Bob", "Good."]))
    assert lines(data) == [("Dana", None, None, "We pay."), ("Bob", 9, None, "Good.")]
    assert warnings(data) == [("unreadable_timing", "1 times")]


def test_other_tables_are_read_as_the_text_that_they_hold():
    data = docx(table(["Rep: We can start in May.", ""], ["Buyer: Good.", ""]))
    assert [line[0] for line in lines(data)] == ["Rep", "Buyer"]


def test_a_dialogue_around_a_small_table_is_read_and_not_left_out():
    spoken = ["Dana: We renew.", "Bob: Good.", "Dana: In May.", "Bob: Fine."]
    data = docx(table(["Name", "Text"], ["Dana", "of Northwind"]), *map(paragraph, spoken))
    assert [line[0] for line in lines(data)][-4:] == ["Dana", "Bob", "Dana", "Bob"]
    assert not warnings(data)


def test_a_table_that_a_page_cut_goes_on_without_headings():
    data = docx(
        table(["Speaker", "Content"], ["Dana", "Shall we renew?"], ["Bob", "Yes."]),
        table(["Dana", "I promise to send it."], ["Zoe", "Good."]),
        table(["Sentiment", "2.4"]),
    )
    assert [line[0] for line in lines(data)] == ["Dana", "Bob", "Dana", "Zoe"]
    assert warnings(data) == [("notes_left_out", "1 paragraphs and tables")]
