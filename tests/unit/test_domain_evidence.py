"""A quote counts when it stands in one turn, exactly or after normaliser v1, and in no other way."""

import unicodedata

import hypothesis.strategies as st
import pytest
from hypothesis import given

from pipeline.domain.actions import Evidence, Quote
from pipeline.domain.documents import Transcript, Turn
from pipeline.domain.evidence import SHORTEST_QUOTE, Haystack, normalise, stands
from pipeline.domain.text import storable


def said(*texts):
    return Transcript(turns=tuple(Turn(text=text) for text in texts))


def locate(quote, *texts, turn=None):
    return Haystack("d", said(*texts)).locate(Quote(quote=quote, turn=turn))


#: the source, the quote as a model gives it, and the source's own characters (None: all of it)
FOUND = {
    "exactly": ("we will send it on Monday", "send it on Monday", "send it on Monday"),
    "with blanks around it": ("we will send it", "  we will send it\n", "we will send it"),
    "curly against plain quotes": (
        "it\u2019s \u201cdone\u201d by Monday",
        'it\'s "done" by',
        "it\u2019s \u201cdone\u201d by",
    ),
    "plain against curly quotes": ("it's done by Monday", "it\u2019s done by", "it's done by"),
    "low and angle quotes": (
        "\u201eja\u201c \u00abnein\u00bb vielleicht",
        '"ja" "nein" viel',
        "\u201eja\u201c \u00abnein\u00bb viel",
    ),
    "dashes": ("ten\u2013twelve \u2014 maybe more", "ten-twelve - maybe", "ten\u2013twelve \u2014 maybe"),
    "a no-break blank": ("five\u00a0thousand dollars", "five thousand dollars", "five\u00a0thousand dollars"),
    "many blanks, a line and a tab": ("one  two\n\tthree four", "one two three four", "one  two\n\tthree four"),
    "zero-width characters": (
        "some\u200bthing \ufeffelse here",
        "something else here",
        "some\u200bthing \ufeffelse here",
    ),
    "a soft hyphen": ("agree\u00adment is signed", "agreement is signed", "agree\u00adment is signed"),
    "composed against decomposed": ("le caf\u0065\u0301 est bon", "le caf\u00e9 est bon", "le caf\u0065\u0301 est bon"),
    "decomposed against composed": ("le caf\u00e9 est bon", "le cafe\u0301 est bon", "le caf\u00e9 est bon"),
    "Hangul jamo": ("\u1112\u1161\u11ab\u1100\u1173\u11af, twelve now", "\ud55c\uae00, twelve now", None),
}

NOT_FOUND = {
    "another case": ("We Will Send It Today", "we will send it today"),
    "a word less": ("we will surely send it", "we will send it"),
    "a typing error": ("we will send it today", "we will sned it today"),
    "over two turns": ("we will send", "we will send it over"),
    "nothing of the kind": ("good morning everybody", "we sign on Monday"),
    "blanks inside words": ("send the offer now", "s end the offer now"),
}


@pytest.mark.parametrize("case", FOUND)
def test_a_quote_is_found_and_repeats_the_sources_own_characters(case):
    source, quote, own = FOUND[case]
    evidence = locate(quote, "first turn", source)
    assert evidence is not None
    assert evidence.turn == 1
    assert evidence.quote == (own or source)
    assert stands(evidence, said("first turn", source))


@pytest.mark.parametrize("case", NOT_FOUND)
def test_nothing_else_is_a_quote(case):
    source, quote = NOT_FOUND[case]
    assert locate(quote, source, "it over there") is None


def test_a_quote_has_at_least_twelve_characters_after_normalising():
    assert SHORTEST_QUOTE == 12
    assert locate("twelve chars", "exactly twelve chars here") is not None
    assert locate("eleven char", "exactly eleven char here") is None
    assert locate("  eleven char  ", "exactly   eleven char   here") is None
    assert locate("eleven\u200b\u200b char", "eleven\u200b\u200b char") is None
    assert locate("", "something") is None


def test_the_hinted_turn_comes_before_the_earliest_and_a_wrong_hint_does_no_harm():
    turns = ("we will send it", "no", "we will send it")
    assert locate("we will send it", *turns).turn == 0
    assert locate("we will send it", *turns, turn=2).turn == 2
    for wrong in (1, 99, -1):
        assert locate("we will send it", *turns, turn=wrong).turn == 0


def test_an_exact_place_comes_before_a_normalised_one_and_before_the_hint():
    assert locate("we will send it", "we  will send it", "we will send it", turn=0).turn == 1


def test_places_are_code_points_of_the_turns_own_text():
    evidence = locate("send the offer", "\U0001f600\U0001f600 we send\u00a0the offer")
    assert (evidence.start, evidence.end) == (6, 20)


def test_evidence_stands_only_where_it_stands():
    evidence = Evidence(document_id="d", turn=0, start=0, end=4, quote="we s")
    assert stands(evidence, said("we send"))
    assert not stands(evidence, said("he send"))
    assert not stands(evidence.model_copy(update={"turn": 1}), said("we send"))


TEXT = st.text(
    st.one_of(
        st.sampled_from(
            "ab \u00a0\t\n\u200b\ufeff\u2019'\u201c\"\u2013-\u0301\u0308e\u00e9\u1112\u1161\u11ab\u00ad\U0001f600"
        ),
        st.characters(exclude_categories=["Cs"]),
    ),
    min_size=1,
    max_size=60,
)


@given(TEXT)
def test_normalising_twice_changes_nothing_more(text):
    once = normalise(text)
    assert normalise(once) == once


@given(TEXT, st.data())
def test_what_is_found_stands_in_the_source(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    for quote in (text[start:end], normalise(text[start:end]), unicodedata.normalize("NFD", text[start:end])):
        evidence = locate(quote, "before", text)
        if evidence is not None:
            assert stands(evidence, said("before", text))
            assert normalise(storable(quote)).strip() in normalise(evidence.quote)


@given(TEXT, st.data())
def test_a_verbatim_quote_that_is_long_enough_is_always_found(text, data):
    start = data.draw(st.integers(0, len(text)))
    quote = text[start : data.draw(st.integers(start, len(text)))]
    if len(normalise(quote).strip()) >= SHORTEST_QUOTE:
        assert locate(quote, text) is not None
