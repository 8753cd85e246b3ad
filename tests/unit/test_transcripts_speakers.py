"""Labels of any format: one spelling for each speaker, numbers for account ids, doubts that say who can own nothing."""

import pytest

from pipeline.domain.documents import DocumentInput, Turn
from pipeline.transcripts import speakers
from pipeline.transcripts.batch import incoming

GUID = "00000000-0000-4000-8000-00000000000a"
TENANT = "@11111111-1111-4111-8111-111111111111"
WORDS = "We take ten seats."


def turns(*labels):
    return [Turn(text=WORDS, speaker=label) for label in labels]


def settled(*labels):
    found, warnings = speakers.settle(turns(*labels))
    return [turn.speaker for turn in found], [(warning.code, warning.place) for warning in warnings]


def doubts(*labels):
    return [(warning.code, warning.place) for warning in speakers.doubts(turns(*labels))]


def test_spellings_that_differ_in_case_and_blanks_are_one_speaker_under_the_most_frequent():
    labels = ("ANNA KIM", "Anna\xa0Kim", "Anna Kim", "Anna Kim", "anna  kim", "\u200eAnna Kim")
    assert settled("Ben", *labels) == (["Ben", *["Anna Kim"] * 6], [("speakers_merged", "4 spellings")])


def test_the_first_of_equally_frequent_spellings_stands_and_accents_may_be_composed_or_not():
    assert settled("Jose\u0301", "Jos\u00e9") == (["Jose\u0301"] * 2, [("speakers_merged", "1 spellings")])


def test_names_that_differ_in_more_stay_apart():
    labels = ["Anna Kim", "Anna Kim (Guest)", "Kim, Anna", "Ann", "Anne", "Zoë", "Zoe"]
    assert settled(*labels) == (labels, [])


def test_a_label_of_blanks_is_none():
    assert settled(" ", "\u200b", None, "Anna") == ([None, None, None, "Anna"], [])


@pytest.mark.parametrize(
    "account",
    [
        GUID,
        GUID.upper(),
        GUID + TENANT,
        "8:orgid:" + GUID,
        "{" + GUID + "}",
        "6432345678555530067",
        "507f1f77bcf86cd799439011",
        "Gk4WbFh0T2a9xQ7vLr3pZw",
        "conferenceRecords/a1/participants/99",
        "users/1234",
    ],
)
def test_account_ids_are_counted_in_the_order_in_which_they_speak(account):
    assert settled("Ben", account, GUID[:-1] + "b", account) == (["Ben", "Speaker 1", "Speaker 2", "Speaker 1"], [])


def test_a_number_that_is_a_label_already_is_not_given_again():
    assert settled("speaker  1", "6432345678555530067", "SPEAKER 2", "6432345678555530068")[0] == [
        "speaker  1",
        "Speaker 3",
        "SPEAKER 2",
        "Speaker 4",
    ]


def test_two_opaque_ids_that_differ_in_case_are_two_accounts():
    assert settled("Gk4WbFh0T2a9xQ7vLr3pZw", "gk4WbFh0T2a9xQ7vLr3pZw")[0] == ["Speaker 1", "Speaker 2"]


@pytest.mark.parametrize(
    "label",
    [
        "2002_Yamada Taro",
        "Konferenzraum_Muenchen_2024",
        "+1 555 010 0199",
        "sam.longname1984@example.com",
        "spk_0",
        "AGENT",
    ],
)
def test_a_label_that_somebody_can_read_stays(label):
    assert settled(label) == ([label], [])


@pytest.mark.parametrize(
    ("labels", "doubt"),
    [
        (("Anna", "Ben", "Anna"), []),
        (("Anna",), []),
        (("Anna", "Speaker 2"), []),
        ((None, None), [("speakers_missing", "2 turns")]),
        (("Anna", None, "Ben"), [("speakers_missing", "1 turns")]),
        (("Anna", "Anna"), [("speakers_collapsed", "2 turns")]),
        (("SPEAKER_00", "SPEAKER_00"), [("speakers_collapsed", "2 turns")]),
        (("Anna", "Audio shared by Ben", "Anna"), [("speakers_collapsed", "2 turns")]),
        (("Agent", "Customer", "Agent"), [("speakers_generic", "2 labels")]),
        (("Speaker 1",), [("speakers_generic", "1 labels")]),
    ],
)
def test_labels_that_give_no_owner_are_said_once(labels, doubt):
    assert doubts(*labels) == doubt


def test_what_could_never_be_quoted_needs_no_speaker():
    sounds = [Turn(text=text) for text in ("[Music]", "Mm-hm.", "")]
    assert not list(speakers.doubts([*turns("Anna", "Ben"), *sounds]))


def test_turns_that_are_given_as_such_keep_their_number_and_their_words():
    said = [
        {"speaker": "ANNA", "text": "so " * 40},
        {"speaker": "Anna", "text": ""},
        {"speaker": "Anna", "text": "so " * 40},
    ]
    document = incoming(DocumentInput(document_id="d", account_id="a", turns=said), "request")
    assert [turn.text for turn in document.transcript.turns] == [one["text"] for one in said]
    assert [turn.speaker for turn in document.transcript.turns] == ["Anna"] * 3
    assert [warning.code for warning in document.warnings] == ["speakers_merged", "speakers_collapsed"]
