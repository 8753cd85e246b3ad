from word_samples import docx, paragraph

from pipeline.transcripts.read import read


def lines(data):
    reading = read(data)
    assert reading.format == "teams_docx_old"
    return [(turn.speaker, turn.start, turn.text) for turn in reading.transcript.turns]


def test_both_times_and_the_name_have_lines_of_their_own():
    cues = ["0:0:0.0 --> 0:0:3.80\nDana Kim\nGood morning.", "0:10:4.120 --> 0:10:7.0\nRoe, Bob\nYes, and\nwe renew."]
    for data in (docx(*map(paragraph, cues)), "\n".join(cues).encode()):
        assert lines(data) == [("Dana Kim", 0, "Good morning."), ("Roe, Bob", 604.12, "Yes, and\nwe renew.")]
        assert [turn.end for turn in read(data).transcript.turns] == [3.08, 607]


def test_words_of_somebody_whom_teams_did_not_know_are_no_name():
    data = b"0:0:0.0 --> 0:0:3.0\nDana Kim\nGood morning.\n0:0:4.0 --> 0:0:7.0\nWe renew.\n"
    assert lines(data)[1] == (None, 4, "We renew.")


def test_subtitles_of_two_lines_have_no_names():
    assert read(b"0:00:01.000 --> 0:00:04.000\nHello there,\nall of you.\n").format == "srt"


def test_most_words_may_be_nobodys():
    data = b"0:0:0.0 --> 0:0:3.0\nDana Kim\nGood morning.\n" + b"".join(
        b"0:0:%d.0 --> 0:0:%d.0\nWe renew.\n" % (second, second + 1) for second in range(4, 8)
    )
    assert [speaker for speaker, *_ in lines(data)] == ["Dana Kim", None, None, None, None]
