import pytest

from pipeline.errors import ItemFailure
from pipeline.transcripts.read import read


def log(*messages):
    return "".join(f"[2026-04-01T{time}Z]\t<{nick}>\t{text}\n" for time, nick, text in messages).encode()


def lines(data):
    reading = read(data)
    assert reading.format == "irc"
    return [(turn.speaker, turn.start, turn.text) for turn in reading.transcript.turns]


CALL = [
    ("15:57:12.391", "Dana_Kim", "present+"),
    ("16:02:04.302", "Transcriber", "scribe+"),
    ("16:02:04.303", "Transcriber", "Meeting: weekly"),
    ("16:02:20.810", "Transcriber", "Dana_Kim: We renew in May."),
    ("16:02:26", "bob_//_(he/him)", "q+ to ask: why?\nhttps://example.org"),
    ("16:02:30.310", "Transcriber", "bob_//_(he/him): One thing: why?"),
]


def test_what_a_transcriber_relays_is_speech_and_the_rest_is_chat():
    assert lines(log(*CALL)) == [("Dana_Kim", 0, "We renew in May."), ("bob_//_(he/him)", 9.5, "One thing: why?")]
    assert ("chat_left_out", "4 messages") in [(each.code, each.place) for each in read(log(*CALL)).warnings]


def test_a_call_may_pass_midnight():
    data = log(("23:59:59", "Transcriber", "Dana: We renew.")) + log(
        ("00:00:04", "Transcriber", "Bob: In May.")
    ).replace(b"04-01", b"04-02")
    assert [line[1] for line in lines(data)] == [0, 5]


def test_a_day_that_does_not_exist_is_counted_and_the_words_stay():
    data = log(*CALL).replace(b"04-01T16:02:30", b"04-31T16:02:30")
    assert [line[1] for line in lines(data)] == [0, None]
    assert ("unreadable_timing", "1 times") in [(each.code, each.place) for each in read(data).warnings]


def test_a_log_without_a_transcriber_is_a_chat():
    with pytest.raises(ItemFailure, match="not_a_call: a chat"):
        read(log(("16:02:04", "Dana", "Bob: We renew in May."), ("16:02:09", "Bob", "Dana: good")))
