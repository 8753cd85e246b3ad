"""When a growing text is kept: by its length, its sentences or its age, and never twice within two seconds."""

import pytest

from pipeline.domain.cadence import CHARACTERS, SENTENCES, Cadence, whole_sentences

ENOUGH = "x" * CHARACTERS


@pytest.mark.parametrize(
    ("heard", "after", "due"),
    [
        ("", 60.0, False),
        (ENOUGH, 1.9, False),
        (ENOUGH, 2.0, True),
        (ENOUGH[1:], 2.0, False),
        (ENOUGH[1:], 4.9, False),
        ("x", 5.0, True),
        ("So it is. " * SENTENCES, 2.0, True),
        ("So it is. " * (SENTENCES - 1), 2.0, False),
    ],
)
def test_a_text_is_due_when_enough_is_new_or_anything_is_old(heard, after, due):
    cadence = Cadence(100.0)
    cadence.heard(heard)
    assert cadence.due(100.0 + after) is due


def test_what_would_be_too_old_at_the_next_look_is_due_at_this_one():
    cadence = Cadence(0.0)
    cadence.heard("x")
    assert [cadence.due(4.4, 0.5), cadence.due(4.5, 0.5)] == [False, True]


def test_what_was_kept_counts_no_more_and_what_was_missed_counts_again():
    cadence = Cadence(0.0)
    cadence.heard(ENOUGH)
    cadence.tried(10.0)
    assert not cadence.due(60.0)
    cadence.missed()
    assert [cadence.due(11.9), cadence.due(12.0)] == [False, True]


def test_a_text_that_begins_anew_is_news_though_nothing_has_come():
    cadence = Cadence(0.0)
    cadence.heard(ENOUGH)
    cadence.restarted()
    assert [cadence.due(2.0), cadence.due(5.0)] == [False, True]


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("", ""),
        ("Nothing ends", ""),
        ("It ends. It goes on", "It ends."),
        ("It costs 3.5 million", ""),
        ("It costs 3.", ""),
        ('He said "no." And', 'He said "no."'),
        ("- one\n- two", "- one\n"),
        ("Really?! Yes… and", "Really?! Yes…"),
        ("終わり。続き", "終わり。"),
    ],
)
def test_a_text_is_gone_on_with_after_its_last_whole_sentence(text, whole):
    assert whole_sentences(text) == whole
