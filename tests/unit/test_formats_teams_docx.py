import pytest
from word_samples import docx, paragraph, run

from pipeline.transcripts.read import read


def lines(data):
    reading = read(data)
    assert reading.format == "teams_docx"
    return [(turn.speaker, turn.start, turn.text) for turn in reading.transcript.turns]


def turn(name, time, text):
    return f"<w:p>{run(name)}{run(f'   {time}')}<w:r><w:br/></w:r>{run(text)}</w:p>"


HEAD = [
    paragraph("Renewal-20260217_103000-Meeting Transcript"),
    paragraph("17 February 2026, 10:30am"),
    paragraph("1h 2m"),
]


def test_a_paragraph_is_a_turn_and_keeps_its_line_breaks():
    data = docx(*HEAD, turn("Dana Kim", "0:03", "Structural.\nBut."), turn("Roe, Bob", "1:02:03", "Yes."))
    assert lines(data) == [("Dana Kim", 3, "Structural.\nBut."), ("Roe, Bob", 3723, "Yes.")]


@pytest.mark.parametrize("name", ["田中太郎", "Влад", "محمد", "José (Norte)", "Anna-Lena Ø. Weiß"])
def test_names_are_in_any_script(name):
    assert lines(docx(*HEAD, turn(name, "0:03", "We renew."), turn(name, "0\uff1a09", "bye"))) == [
        (name, 3, "We renew."),
        (name, 9, "bye"),
    ]


def test_what_stands_on_top_and_who_recorded_is_left_out_and_counted():
    events = [paragraph(f"Dana Kim {what} transcription") for what in ("started", "stopped")]
    data = docx(*HEAD, events[0], turn("Dana Kim", "0:03", "Hello, Bob."), turn("Bob", "0:05", "Hi."), events[1])
    assert lines(data) == [("Dana Kim", 3, "Hello, Bob."), ("Bob", 5, "Hi.")]
    assert [(each.code, each.place) for each in read(data).warnings if "speakers" not in each.code] == [
        ("front_matter_left_out", "5 lines")
    ]


def test_the_same_text_is_read_without_word():
    assert lines(b"Dana Kim   0:03\nHello, Bob.\nBob   0:05\nHi.\n") == [
        ("Dana Kim", 3, "Hello, Bob."),
        ("Bob", 5, "Hi."),
    ]


def test_the_old_layout_has_both_times_and_the_name_on_lines_of_their_own():
    cues = ["0:0:0.0 --> 0:0:3.80\nDana Kim\nGood morning.", "0:10:4.120 --> 0:10:7.0\nRoe, Bob\nYes, and\nwe renew."]
    for data in (docx(*map(paragraph, cues)), "\n".join(cues).encode()):
        assert lines(data) == [("Dana Kim", 0, "Good morning."), ("Roe, Bob", 604.12, "Yes, and\nwe renew.")]
        assert [turn.end for turn in read(data).transcript.turns] == [3.08, 607]


def test_words_of_somebody_whom_teams_did_not_know_are_no_name():
    data = b"0:0:0.0 --> 0:0:3.0\nDana Kim\nGood morning.\n0:0:4.0 --> 0:0:7.0\nWe renew.\n"
    assert lines(data)[1] == (None, 4, "We renew.")


def test_subtitles_of_two_lines_have_no_names():
    assert read(b"0:00:01.000 --> 0:00:04.000\nHello there,\nall of you.\n").format == "srt"
