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


def test_a_line_that_tells_of_a_transcription_is_speech_where_words_go_on_below_it():
    data = (
        b"Dana   0:03\nHello.\nThen Bob stopped transcription\nand left.\nBob   0:05\nHe started transcription now.\n"
    )
    assert lines(data)[0] == ("Dana", 3, "Hello.\nThen Bob stopped transcription\nand left.")
    assert lines(data)[1] == ("Bob", 5, "He started transcription now.")


def test_who_says_that_somebody_stopped_a_transcription_says_it():
    data = b"Dana   0:03\nHello, Bob. Is it on?\nBob   0:05\nHe stopped transcription\n"
    assert lines(data)[1] == ("Bob", 5, "He stopped transcription")


def test_subtitles_with_wide_gaps_before_a_time_are_subtitles():
    cue = "{}\n00:00:0{} --> 00:00:0{}\nLunch   12:30\nis what the sign says.\n"
    assert read("\n".join(cue.format(n, n, n + 1) for n in (1, 2, 3)).encode()).format == "srt"
