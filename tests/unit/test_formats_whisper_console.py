from pipeline.transcripts.read import read


def test_each_pair_of_times_is_a_turn_with_the_words_behind_it_and_below_it():
    reading = read(
        b"main: processing 'call.wav' (11 s)\n\n"
        b"[00:00.000 --> 00:02.480]  Good morning, this is Dana.\n"
        b"[00:02.480 --> 01:02.000]   I will send the offer\non Friday.\n"
    )
    assert reading.format == "whisper_console"
    assert [(turn.start, turn.end, turn.speaker, turn.text) for turn in reading.transcript.turns] == [
        (0.0, 2.48, None, "Good morning, this is Dana."),
        (2.48, 62.0, None, "I will send the offer\non Friday."),
    ]
    assert ("front_matter_left_out", "1 lines") in {(warning.code, warning.place) for warning in reading.warnings}


def test_whisper_cpp_writes_the_hours():
    (turn,) = read(b"[01:00:00.000 --> 01:00:04.000]   We agreed on the price.\n").transcript.turns
    assert (turn.start, turn.end) == (3600, 3604)


def test_a_time_in_brackets_alone_is_plain_text():
    assert read(b"[00:00:01] Dana: Good morning.\n[00:00:02] Ben: Hi. I will call you.\n").format == "plain"


def test_names_before_the_words_are_the_speakers_and_an_impossible_end_is_a_warning():
    reading = read(
        b"[00:00.000 --> 00:02.000] Dana: Good morning.\n[00:02.000 --> 00:01.000] Ben: Hi. I will call you.\n"
    )
    assert [(turn.speaker, turn.text, turn.end) for turn in reading.transcript.turns] == [
        ("Dana", "Good morning.", 2.0),
        ("Ben", "Hi. I will call you.", None),
    ]
    assert [(warning.code, warning.place) for warning in reading.warnings] == [("unreadable_timing", "line 2")]


def test_one_such_line_in_a_dialogue_is_a_line_of_it():
    said = b"Dana: Good morning.\nBen: Hi. I will call you.\n"
    reading = read(said + b"Dana: This is what it printed:\n[00:00.000 --> 00:02.480]  Good morning.\n" + said)
    assert reading.format == "plain"
    assert [turn.speaker for turn in reading.transcript.turns] == ["Dana", "Ben", "Dana", "Dana", "Ben"]


def test_channels_are_speakers():
    lines = ["(speaker 0) Good morning.", "(speaker 1) Hi.", "(speaker ?) Yes.", "(speaker 0) I will call you."]
    printed = "".join(f"[00:00:0{n}.000 --> 00:00:0{n}.900]  {line}\n" for n, line in enumerate(lines))
    assert [(turn.speaker, turn.text.strip()) for turn in read(printed.encode()).transcript.turns] == [
        ("Speaker 0", "Good morning."),
        ("Speaker 1", "Hi."),
        (None, "Yes."),
        ("Speaker 0", "I will call you."),
    ]


def test_faster_whisper_prints_seconds():
    reading = read(b"[0.00s -> 4.50s] We renew in May.\n[4.50s -> 68.00s]  Good, send it.\n")
    assert reading.format == "whisper_console"
    assert [(turn.start, turn.end) for turn in reading.transcript.turns] == [(0, 4.5), (4.5, 68)]
