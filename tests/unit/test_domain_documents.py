"""What a caller hands in, its options, and the digest that both are bound by."""

import hashlib
import json
from datetime import UTC, datetime
from uuid import UUID

import hypothesis.strategies as st
import pytest
from hypothesis import given
from pydantic import ValidationError

from pipeline.domain.canonical import RequestDigest, canonical
from pipeline.domain.documents import DocumentFields, DocumentInput, Fault, IncomingDocument, Transcript, Turn
from pipeline.domain.identity import export_id
from pipeline.domain.options import JobOptions, parse
from pipeline.domain.text import is_storable, storable
from pipeline.errors import InvalidRequest

IDS = {"document_id": "d", "account_id": "a"}


@pytest.mark.parametrize("field", sorted(DocumentFields.model_fields.keys() - {"occurred_at"}))
@pytest.mark.parametrize("wrong", ["", "x" * 513, "nul\x00", "half \ud800", 7])
def test_an_id_has_1_to_512_storable_characters(field, wrong):
    with pytest.raises(ValidationError):
        DocumentFields.model_validate(IDS | {field: wrong})


def test_ids_of_512_characters_and_any_language_are_kept_as_they_are():
    assert DocumentFields(document_id=" \u00fc" * 256, account_id="\U0001f600").document_id == " \u00fc" * 256


def test_a_time_needs_its_zone_and_is_kept_in_utc():
    kept = DocumentFields(**IDS, occurred_at="2026-03-04T10:00:00+05:30").occurred_at
    assert (kept, kept.tzinfo) == (datetime(2026, 3, 4, 4, 30, tzinfo=UTC), UTC)
    with pytest.raises(ValidationError):
        DocumentFields(**IDS, occurred_at="2026-03-04T10:00:00")


def test_a_document_has_either_a_transcript_or_turns():
    for words in ({}, {"transcript": "x", "turns": [{"text": "x"}]}):
        with pytest.raises(ValidationError, match="either transcript or turns"):
            DocumentInput.model_validate(IDS | words)


def test_unknown_fields_are_refused():
    with pytest.raises(ValidationError):
        DocumentInput.model_validate(IDS | {"transcript": "x", "acount": "a"})


@pytest.mark.parametrize("seconds", [-1, float("nan"), float("inf")])
def test_a_turns_times_are_finite_and_not_negative(seconds):
    with pytest.raises(ValidationError):
        Turn(text="x", start=seconds)


def test_a_turns_text_is_never_trimmed_and_always_storable():
    assert Turn(text="  a\x00b\ud800 \n").text == "  a\ufffdb\ufffd \n"


def test_a_transcript_in_which_nobody_says_anything_is_blank():
    assert Transcript(turns=(Turn(text=" \n"), Turn(text=""))).is_blank()
    assert not Transcript(turns=(Turn(text=" \n"), Turn(text="yes"))).is_blank()


def test_an_incoming_document_has_either_words_or_a_fault():
    whole = {"fields": DocumentFields(**IDS), "source_sha256": "0" * 64, "digest_fields": {}, "place": "p"}
    words, fault = Transcript(turns=()), Fault(code="empty_input", detail="empty")
    for wrong in ({"transcript": None}, {"transcript": words, "fault": fault}):
        with pytest.raises(ValidationError, match="either a transcript or a fault"):
            IncomingDocument(**whole | wrong)


@given(st.text(st.characters()))
def test_storable_text_has_the_same_length_and_goes_through_utf_8(text):
    kept = storable(text)
    assert len(kept) == len(text)
    assert is_storable(kept)
    assert kept.encode().decode() == kept
    assert (kept == text) == is_storable(text)


def test_canonical_json_is_rfc_8785():
    given = {"b": 1.0, "a": [1e21, "\u20ac\n"], "\u20ac": None}
    assert canonical(given).decode() == '{"a":[1e+21,"\u20ac\\n"],"b":1,"\u20ac":null}'


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 2**53, {"x": [float("nan")]}])
def test_what_json_cannot_hold_has_no_canonical_form(value):
    with pytest.raises(InvalidRequest, match="canonical"):
        canonical(value)


def test_the_digest_fed_one_by_one_is_that_of_the_whole_request():
    documents, options = [{"b": 1, "a": "x"}, {"c": None}, {}], {"concurrency": 4}
    digest = RequestDigest()
    for document in documents:
        digest.add(document)
    whole = canonical({"documents": documents, "options": options})
    assert digest.finish(options) == hashlib.sha256(whole).hexdigest()
    assert RequestDigest().finish({}) == hashlib.sha256(b'{"documents":[],"options":{}}').hexdigest()


def test_options_are_digested_as_given():
    assert parse({}).given() == {}
    assert parse({"concurrency": 8, "language": None}).given() == {"concurrency": 8}
    assert parse({}) == JobOptions()


@pytest.mark.parametrize(
    ("option", "wrong"),
    [
        ("concurrency", 0),
        ("concurrency", 1_001),
        ("require", "most"),
        ("profile", ""),
        ("deadline_seconds", 0),
        ("deadline_seconds", 30 * 86_400 + 1),
        ("max_attempts", 0),
        ("max_attempts", 101),
        ("budget_tokens", 0),
        ("budget_usd", 0),
        ("budget_usd", float("nan")),
        ("budget_usd", float("inf")),
        ("language", "\x00"),
        ("conkurrency", 8),
    ],
)
def test_a_wrong_option_is_named(option, wrong):
    with pytest.raises(InvalidRequest) as refused:
        parse({option: wrong, "concurrency": wrong if option == "concurrency" else 1})
    assert [problem.place for problem in refused.value.problems] == [f"option {option}"]


def test_every_wrong_option_is_listed():
    with pytest.raises(InvalidRequest) as refused:
        parse({"require": "most", "speed": 1, "max_attempts": 0})
    named = {problem.place for problem in refused.value.problems}
    assert named == {"option require", "option speed", "option max_attempts"}


def test_an_exports_id_is_made_of_job_and_version_alone():
    job_id = UUID(int=1)
    assert export_id(job_id, 1) == export_id(job_id, 1)
    assert export_id(job_id, 1) != export_id(job_id, 2)


def test_turns_survive_json():
    turns = Transcript(turns=(Turn(text="a", speaker="Ann", start=0.5, end=1),))
    assert Transcript.model_validate(json.loads(turns.model_dump_json())) == turns
