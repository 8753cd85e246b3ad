"""The summary: the central sentences in call order with their speakers, bounded, the same everywhere."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.domain.documents import DocumentFields, Transcript, Turn
from pipeline.errors import ItemFailure
from pipeline.settings import Profile
from pipeline.summarizers.extractive.central import _CANDIDATES, _spread, most_central
from pipeline.summarizers.extractive.sentences import LONGEST, split
from pipeline.summarizers.extractive.summarizer import Extractive
from pipeline.summarizers.port import SummaryRequest
from pipeline.summarizers.unrecorded import Unrecorded

TALK = (
    ("Dana", "The new scanner reads a pallet label in one second."),
    ("Kim", "Our scanner reads a pallet label in nine seconds, which is why the queue grows."),
    ("Dana", "I had a sandwich."),
    ("Kim", "A queue at the pallet gate costs us two drivers a day."),
    ("Dana", "With the new scanner the queue at the pallet gate is gone."),
    ("Kim", "Mm-hmm."),
)


def transcript(*said):
    return Transcript(turns=tuple(Turn(speaker=speaker, text=text) for speaker, text in said))


def summary_of(*said):
    fields = DocumentFields(document_id="call-1", account_id="acme")
    request = SummaryRequest(fields=fields, transcript=transcript(*said), language=None)
    return Extractive().summarize(request, Unrecorded(Profile(), 60.0)).summary


def test_sentences_are_verbatim_stretches_of_their_turn():
    call = transcript(("Dana", "  Hello there.  It's <UNSURE>nine</UNSURE> o'clock .\nReally? "), ("Kim", "\n \t"))
    sentences = split(call)
    assert [sentence.text for sentence in sentences] == [
        "Hello there.",
        "It's <UNSURE>nine</UNSURE> o'clock .",
        "Really?",
    ]
    assert all(sentence.text in call.turns[sentence.turn].text for sentence in sentences)
    assert sentences[1].shown == "It's nine o'clock."


def test_a_huge_line_is_cut_into_bounded_verbatim_pieces():
    for text in ("word " * 50_000, "x" * 200_000, "字" * 200_000):
        sentences = split(transcript(("Dana", text)))
        assert max(len(sentence.text) for sentence in sentences) <= LONGEST
        assert all(sentence.text in text and not sentence.whole for sentence in sentences)
        assert sum(len(sentence.text.replace(" ", "")) for sentence in sentences) == len(text.replace(" ", ""))


def test_the_summary_keeps_call_order_and_speakers_and_leaves_out_small_talk():
    lines = summary_of(*TALK).split("\n")
    assert all(line.startswith(("Dana: ", "Kim: ")) for line in lines)
    assert "pallet" in lines[0]
    assert not any("sandwich" in line or "Mm-hmm" in line for line in lines)


def test_a_long_call_is_reduced_to_four_hundred_candidates_from_all_of_it():
    terms = [["point", str(number), *["lorry"] * (number % 5)] for number in range(3_000)]
    candidates = _spread(range(3_000), terms)
    assert len(candidates) == _CANDIDATES
    assert candidates[0] < 10
    assert candidates[-1] > 2_980


@pytest.mark.parametrize("blank", ["\u00a0", "\u2009", "\u3000"])
def test_a_wide_blank_before_a_full_stop_is_read_and_stays(blank):
    text = f"We take plan Y{blank}. Then{blank}we renew."
    sentences = [sentence.text for sentence in split(Transcript(turns=(Turn(text=text),)))]
    assert sentences == [f"We take plan Y{blank}.", f"Then{blank}we renew."]


def test_the_same_sentence_is_not_chosen_twice():
    sentences = split(transcript(*(("Dana", "The scanner reads a pallet label quickly."),) * 40))
    assert len(most_central(sentences)) == 1


@pytest.mark.parametrize(
    "words",
    [
        "好的，我们下周再谈价格。这个产品的价格是多少？价格太高了。",  # noqa: RUF001 - Chinese has its own marks
        "שלום לכולם. המחיר של המוצר גבוה מדי. נדבר מחר.",
        "Добрый день. Цена слишком высока для нас. Поговорим о цене завтра.",  # noqa: RUF001 - Russian
        "Guten Tag. Der Preis ist uns zu hoch. Wir reden morgen über den Preis.",
        "😀",
        "Hello",
        "...",
        "<UNIN/>",
    ],
)
def test_any_language_and_any_scrap_has_a_summary(words):
    said = summary_of(("Kim", words))
    assert said.startswith("Kim: ")
    assert len(said) > len("Kim: ")


def test_a_blank_call_is_an_empty_input():
    with pytest.raises(ItemFailure) as failure:
        summary_of(("Dana", "  "), (None, ""))
    assert failure.value.error_code == "empty_input"


def test_the_summary_does_not_depend_on_the_process_or_its_hash_seed():
    program = (
        "from tests.unit.test_extractive_summary import TALK, summary_of\n"
        "import sys; sys.stdout.buffer.write(summary_of(*TALK).encode())"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=Path(__file__).parents[2],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert said == {summary_of(*TALK).encode()}


def test_a_summary_holds_statements_and_leaves_out_questions_and_fillers():
    said = summary_of(
        ("Dana", "Does the new pallet scanner read a pallet label in one second at the gate?"),
        ("Kim", "Um, the new pallet scanner, uh, reads a pallet label at the gate in two seconds."),
        ("Dana", "What about the pallet gate and the pallet scanner and the label?"),
    )
    assert said == "Kim: the new pallet scanner reads a pallet label at the gate in two seconds."


def test_what_is_a_filler_in_english_stays_a_word_in_german():
    assert summary_of(("Anna", "Wir treffen uns um neun, und er bringt den Vertrag mit.")).startswith(
        "Anna: Wir treffen uns um neun"
    )


def test_a_sentence_that_gave_an_action_weighs_more():
    sentences = split(transcript(*TALK, ("Dana", "I'll send Kim the scanner brochure tomorrow.")))
    assert sentences[-1] not in most_central(sentences)
    assert sentences[-1] in most_central(sentences, {sentences[-1]})


def test_threads_share_one_summarizer():
    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(lambda _turn: summary_of(*TALK), range(32))) == {summary_of(*TALK)}


def test_importing_the_summarizers_imports_nothing_heavy():
    program = (
        "import sys, pipeline.summarizers.registry, pipeline.summarizers.tokens\n"
        "print({'sklearn', 'networkx', 'numpy', 'sentencex', 'tiktoken'} & set(sys.modules))"
    )
    root = Path(__file__).parents[2]
    said = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, check=True, text=True)
    assert said.stdout == "set()\n"


SCRAPS = st.sampled_from(["I'll send the quote by Friday.", "Too expensive!", "<UNSURE>", "\u200b"])
SAID = st.tuples(st.none() | st.sampled_from(["Dana", "Kim", ""]), st.text(max_size=60) | SCRAPS)


@settings(deadline=None, max_examples=60)
@given(st.lists(SAID, max_size=8))
def test_whatever_is_said_there_is_a_summary_or_nothing_was_said(said):
    if transcript(*said).is_blank():
        with pytest.raises(ItemFailure, match="empty_input"):
            summary_of(*said)
    else:
        assert summary_of(*said)
