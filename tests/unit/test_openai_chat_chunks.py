"""A call in chunks: every character in one, in order, within the budget, never inside a grapheme."""

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.domain.documents import Transcript, Turn
from pipeline.errors import ItemFailure
from pipeline.summarizers.openai_chat.chunks import Span, covers, cut, is_complete

FAMILY, FLAG, ACCENT = "👩‍👩‍👧", "🇩🇪", "é"


def call(*texts):
    return Transcript(turns=tuple(Turn(text=text) for text in texts))


def cost(span, _limit):
    """A made-up tokenizer: a token for every two characters that have begun, and two for the turn's number."""
    return 2 + -(-(span.end - span.start) // 2)


def said(transcript, chunk):
    return [transcript.turns[span.turn].text[span.start : span.end] for span in chunk]


atoms = st.sampled_from(["a", "b", " ", ".", "\n", "。", FAMILY, FLAG, ACCENT, "\u0301", "\u200d", "界"])
texts = st.lists(st.lists(atoms, max_size=40).map("".join), max_size=12)


@given(texts, st.integers(40, 90))
@settings(max_examples=400, deadline=None)
def test_every_character_is_in_one_chunk_in_order_within_the_budget_and_no_grapheme_is_cut(turns, budget):
    transcript = call(*turns)
    longest = max((len(found) for text in turns for found in regex.findall(r"\X", text)), default=0)
    if cost(Span(0, 0, longest), budget) > budget:
        with pytest.raises(ItemFailure, match="input_too_large"):
            cut(transcript, budget, cost)
        return
    chunks = cut(transcript, budget, cost)
    assert is_complete(chunks, transcript)
    assert "".join(text for chunk in chunks for text in said(transcript, chunk)) == "".join(turns)
    for chunk in chunks:
        assert sum(cost(span, budget) for span in chunk) <= budget
        for span in chunk:
            text = transcript.turns[span.turn].text
            assert {span.start, span.end} <= {0, *(found.end() for found in regex.finditer(r"\X", text))}


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("one line\nand here\nanother line that is long", "one line\nand here\n"),
        ("One is here. Two is. Three goes on and on", "One is here. Two is. "),
        ("no sentence but words that go on and on and on", "no sentence but words "),
        ("nospaceatallbutonlyoneverylongwordthatgoeson", "nospaceatallbutonlyonev"),
    ],
)
def test_a_turn_that_is_too_long_is_cut_after_a_line_a_sentence_a_word_or_a_character(text, first):
    transcript = call(text)
    (chunk, *_) = cut(transcript, 14, cost)
    [head] = said(transcript, chunk)
    assert head.startswith(first[:20])
    assert text.startswith(head)
    assert len(head) <= 24


@pytest.mark.parametrize("end", ["。", ". ", "\n", " "])
def test_no_boundary_is_taken_from_the_mark_that_belongs_to_it(end):
    transcript = call((f"{'a' * 9}{end}\u0301" + FAMILY) * 30)
    ends = {span.end for chunk in cut(transcript, 30, cost) for span in chunk}
    assert len(ends) > 5
    assert ends <= {found.end() for found in regex.finditer(r"\X", transcript.turns[0].text)}


def test_turns_stay_whole_where_they_fit():
    transcript = call("a" * 20, "b" * 20, "c" * 20)
    chunks = cut(transcript, 30, cost)
    assert [covers(chunk) for chunk in chunks] == ["0:0-1:20", "2:0-2:20"]


@pytest.mark.parametrize(
    "chunks",
    [
        [],
        [(Span(0, 0, 3),)],
        [(Span(0, 0, 5),), (Span(0, 0, 5),)],
        [(Span(0, 2, 5),), (Span(0, 0, 2),)],
        [(Span(0, 0, 5), Span(0, 5, 9))],
    ],
    ids=["nothing", "a part", "twice", "out of order", "more than there is"],
)
def test_what_does_not_cover_the_call_is_not_complete(chunks):
    assert not is_complete(chunks, call("12345"))


def test_a_character_that_fits_nowhere_is_an_input_too_large():
    transcript = call("a" + "\u0301" * 200)
    with pytest.raises(ItemFailure, match="input_too_large"):
        cut(transcript, 20, cost)
