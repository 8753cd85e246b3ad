import pytest

from pipeline.transcripts.words import Word, turns


def texts(*words):
    return [turn.text for turn in turns(words)]


def test_punctuation_is_written_without_a_blank():
    assert texts(Word("Hello"), Word(",", glued=True), Word("Anna"), Word(".", glued=True)) == ["Hello, Anna."]


def test_a_turn_ends_where_the_speaker_changes_and_goes_on_where_none_is_named():
    found = list(turns([Word("So", "A"), Word("then"), Word("yes", "B"), Word("no", "A")]))
    assert [(turn.speaker, turn.text) for turn in found] == [("A", "So then"), ("B", "yes"), ("A", "no")]


def test_a_turn_ends_where_nobody_speaks_for_two_seconds():
    assert texts(Word("one", start=0, end=1), Word("two", start=2.9, end=3), Word("three", start=5, end=6)) == [
        "one two",
        "three",
    ]


def test_a_pause_is_seen_behind_marks_without_times():
    assert texts(Word("one", start=0, end=1), Word(".", glued=True), Word("two", start=4, end=5)) == ["one.", "two"]


def test_a_pause_is_counted_from_a_word_without_an_end():
    assert texts(Word("one", start=0), Word("two", start=1, end=2)) == ["one two"]
    assert texts(Word("one", start=0), Word("two", start=3, end=4)) == ["one", "two"]


def test_a_turn_has_the_first_start_and_the_last_end_that_are_known():
    (turn,) = turns([Word("1999"), Word("was", start=1, end=2), Word("good")])
    assert (turn.start, turn.end) == (1, 2)


def test_an_end_before_the_start_is_left_out():
    (turn,) = turns([Word("one", start=3, end=2)])
    assert (turn.start, turn.end) == (3, None)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["你好", "。", "安娜"], "你好。安娜"),
        (["資料", "を", "PDF", "で"], "資料を PDF で"),
        (["네", "알겠습니다"], "네 알겠습니다"),
    ],
)
def test_scripts_without_blanks_get_none(words, text):
    assert texts(*map(Word, words)) == [text]
