from pipeline.transcripts.read import read


def lines(text):
    reading = read(text.encode())
    assert reading.format == "zoom_caption"
    return [(turn.speaker, turn.start, turn.text) for turn in reading.transcript.turns]


def test_times_are_seconds_from_the_first_line_and_pass_midnight():
    text = "[Dana Kim] 23:59:58\nHello.\n\n[Bob] 00:00:03\nHi.\nAll fine?\n\n[Dana Kim] 00:01:00\nYes.\n"
    assert lines(text) == [("Dana Kim", 0, "Hello."), ("Bob", 5, "Hi.\nAll fine?"), ("Dana Kim", 62, "Yes.")]


def test_a_line_that_comes_late_is_no_new_day():
    assert [line[1] for line in lines("[A] 10:00:05\nWe renew.\n[B] 10:00:02\nGood.\n[A] 10:00:09\nYes.\n")] == [
        0,
        0,
        4,
    ]


def test_names_are_in_any_script_and_hold_brackets_and_ids():
    text = "\ufeff\n[2002_田中] 09:00:00\n契約は五月です。\n\n[Bob [ext] @ Rye] 9:00:04\nGood.\n"
    assert lines(text) == [("2002_田中", 0, "契約は五月です。"), ("Bob [ext] @ Rye", 4, "Good.")]


def test_times_in_brackets_are_plain_text():
    assert read(b"[00:00:01] Dana: We renew.\n[00:00:02] Dana: In May.").format == "plain"


def test_hours_of_half_a_day_are_counted_to_24():
    text = "[Dana] 11:59:58 AM\nWe renew in May.\n[Bob] 12:00:01 PM\nGood.\n[Dana] 1:00:00\u202fPM\nBye.\n"
    reading = read(text.encode())
    assert reading.format == "zoom_caption"
    assert [turn.start for turn in reading.transcript.turns] == [0, 3, 3602]
