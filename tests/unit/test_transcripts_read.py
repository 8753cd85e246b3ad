"""`read`: any bytes give a Reading or an ItemFailure, and hostile ones do so in linear time."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pipeline.domain.documents import Warning
from pipeline.errors import ItemFailure
from pipeline.transcripts import source
from pipeline.transcripts.read import MAX_BYTES, read

PIECES = [
    "WEBVTT", "NOTE", "\n", "\n\n", "\r\n", " ", "1", "00:00:01.000 --> 00:00:02.000", "0:1 --> x", "-->", "Anna: ",
    "Ben:", "<v Anna>", "</v>", "&amp;", "<00:00:01.000><c>", "[0:01] ", "**", "\uff1a", "\x00", "\ufeff", "word",
    "é", "😀", "\u2028", "<v",
]  # fmt: skip


def outcome(data):
    try:
        return read(data)
    except ItemFailure as failure:
        assert failure.error_code in {"unreadable_input", "empty_input", "too_short"}  # noqa: PT017 - both outcomes are right
        return None


@settings(deadline=None)
@given(st.binary(max_size=400))
@example(b"\xff\xfe")
@example(b"\xef\xbb\xbf")
@example(b"\xff\xfe\x00\x00\x01")
def test_any_bytes_give_a_reading_or_a_named_failure(data):
    outcome(data)


@settings(deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join), st.sampled_from(["utf-8", "utf-16", "cp1252"]))
def test_any_shuffled_transcript_gives_a_reading_or_a_named_failure(text, encoding):
    first = outcome(text.encode(encoding, "replace"))
    assert first == outcome(text.encode(encoding, "replace"))


@settings(deadline=None)
@given(st.lists(st.text(st.characters(exclude_characters="<>&{\r\n\x00", exclude_categories=["Cs"])), min_size=1))
def test_each_cue_is_one_turn_and_its_text_is_untouched(texts):
    lines = [f"in line {number} he said {text}" for number, text in enumerate(texts)]
    data = "WEBVTT\n\n" + "".join(f"00:01.000 --> 00:02.000\n<v A>{line}\n\n" for line in lines)
    found = outcome(data.encode())
    assert found is None or [turn.text for turn in found.transcript.turns] == lines


@pytest.mark.parametrize(
    "data", [b"", b" \n\t\r\n", "\u00a0\n".encode(), b"WEBVTT\r\n\r\n", b"WEBVTT\n\n00:01.000 --> 00:02.000\n \n"]
)
def test_where_nobody_says_a_word_the_input_is_empty(data):
    with pytest.raises(ItemFailure, match="empty_input"):
        read(data)


def test_a_file_over_the_cap_is_not_even_decoded():
    with pytest.raises(ItemFailure, match=r"unreadable_input: larger than 64 MiB"):
        read(b"a" * (MAX_BYTES + 1))


@pytest.mark.parametrize("turn", [b"0:01 --> 0:02\n", b"Anna: x\n", b"0:01 --> 0:02\n<v A>x<v B>x\n\n"])
def test_more_turns_than_any_call_has_are_refused(monkeypatch, turn):
    monkeypatch.setattr(source, "MAX_TURNS", 1_000)
    with pytest.raises(ItemFailure, match="unreadable_input: more than 1,000 turns"):
        read((b"WEBVTT\n\n" if b"<v" in turn else b"") + turn * 1_001)


def test_nul_characters_are_replaced_and_said_so():
    found = read(b"Anna: Good morning.\nAnna: b\x00c\nBen: yes")
    assert found.transcript.turns[1].text == "b\ufffdc"
    assert found.warnings == (Warning(code="replaced_characters", place="line 2"),)


def test_a_guessed_encoding_is_said_on_the_document():
    assert read("Anna: Schöne Grüße\nBen: Danke\nAnna: Bitte".encode("cp1252")).warnings == (
        Warning(code="lossy_decoding", place="cp1252"),
    )


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "0:0:",
        "-->",
        "0:1 --> 0:2 ",
        "<v ",
        "<v.",
        "<v>.",
        "&a",
        "Anna",
        "a:b ",
        " ",
        "\t\n",
        "[0:0",
        "**",
        "\n",
        "x\n\n",
        "<!--",
    ],
)
@pytest.mark.parametrize("head", ["", "WEBVTT\n\n00:01.000 --> 00:02.000\n", "1\n00:00:01,000 --> 00:00:02,000\n"])
@pytest.mark.timeout(20)
def test_long_runs_of_one_pattern_do_not_blow_up(head, unit):
    """A quadratic pattern would need minutes here; the suite's timeout is the judge, not a clock."""
    outcome((head + unit * (150_000 // len(unit)) + "x").encode())


def test_no_error_message_holds_the_files_words():
    with pytest.raises(ItemFailure) as caught:
        read(b"%PDF-1.7 secret words")
    assert "secret" not in str(caught.value)


def test_what_another_tool_lost_or_broke_is_counted_and_left_as_it_is():
    found = read("Anna: All fine.\nBen: Gr\ufffdn\nAnna: GrÃ¼n und Ã©, itâ€™s\nBen: \ufffd\n".encode())
    assert [turn.text for turn in found.transcript.turns][1:3] == ["Gr\ufffdn", "GrÃ¼n und Ã©, itâ€™s"]
    assert found.warnings == (
        Warning(code="replaced_characters", place="line 2 and 1 more"),
        Warning(code="suspicious_characters", place="line 3 and 2 more"),
    )


TURN = '{"speaker": "Anna", "text": "..."}'


def test_in_json_an_escape_may_stand_for_such_a_character():
    texts = ("Good morning.", r"Gr\u0000n", r"Gr\u00c3\u00bcn", r"Gr\ud800n")
    found = read(f"[{', '.join(TURN.replace('...', text) for text in texts)}]".encode())
    assert found.warnings[:2] == (
        Warning(code="replaced_characters", place="turn 1 and 1 more"),
        Warning(code="suspicious_characters", place="turn 2"),
    )


@pytest.mark.parametrize(
    "words", ["NÃO, SÃO JOÃO", "à la carte â quoi", "5 € â, Â", "São Tomé é \u2013 \u201cassim\u201d \u2019"]
)
def test_languages_that_use_these_letters_are_not_suspicious(words):
    assert read(f"Anna: {words}\nBen: all good\nAnna: ok\n".encode()).warnings == ()
