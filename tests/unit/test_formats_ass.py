from pipeline.domain.documents import Turn
from pipeline.transcripts.read import read

HEAD = "[Script Info]\r\nTitle: Call\r\n\r\n[V4+ Styles]\r\nFormat: Name, Fontname\r\nStyle: Default,Arial\r\n\r\n"


def test_each_line_that_is_spoken_is_a_turn_of_whom_it_names():
    ass = HEAD + (
        "[Events]\r\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\r\n"
        "Comment: 0,0:00:00.00,0:00:01.00,Default,,0,0,0,,check the names\r\n"
        "Dialogue: 0,0:00:01.50,0:00:03.48,Default,Dana Kim,0,0,0,,{\\i1}Good{\\i0} morning, all.\\NShall we?\r\n"
        "Dialogue: 0,1:00:04.00,1:00:05.00,Default,,0000,0000,0000,,Yes,\\hwe should.\r\n"
        "Dialogue: 0,1:00:04.00,1:00:05.00,Default,,0,0,0,,{\\an7\\p1}m 0 0 l 100 0{\\p0}\r\n"
    )
    reading = read(ass.encode())
    assert reading.format == "ass"
    assert reading.transcript.turns == (
        Turn(text="Good morning, all.\nShall we?", speaker="Dana Kim", start=1.5, end=3.48),
        Turn(text="Yes, we should.", speaker=None, start=3604.0, end=3605.0),
    )


def test_substation_alpha_has_other_fields_and_names_may_stand_in_the_words():
    ssa = HEAD + (
        "[Events]\nFormat: Marked, Start, End, Style, Text\n"
        "Dialogue: Marked=0,0:00:01.00,0:00:02.00,Default,Dana: Good morning.\n"
        "Dialogue: Marked=0,0:00:03.00,0:00:04.00,Default,Ben: Hello.\n"
    )
    assert [(turn.speaker, turn.text) for turn in read(ssa.encode()).transcript.turns] == [
        ("Dana", "Good morning."),
        ("Ben", "Hello."),
    ]


def test_lines_that_are_cut_keep_their_words_and_are_counted():
    reading = read(
        b"[Events]\nDialogue: 0,0:00:01.00,0:00:02.00,Default,Dana,0,0,0,,Good morning.\nDialogue: and so on\n\n"
        b"my line\n; made by hand\n[Fonts]\nx\n"
    )
    assert [(turn.text, turn.start) for turn in reading.transcript.turns] == [
        ("Good morning.", 1.0),
        ("and so on", None),
        ("my line", None),
    ]
    assert [(warning.code, warning.place) for warning in reading.warnings][:2] == [
        ("unreadable_timing", "line 3"),
        ("text_outside_cues", "line 5"),
    ]
