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
