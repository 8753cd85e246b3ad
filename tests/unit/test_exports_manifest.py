"""A manifest line is what pydantic would have written."""

import math

import pytest
from exports_samples import completed_job, plain_header, plain_record
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from exports.manifest import manifest_line
from pipeline.domain.actions import CrmAction, Evidence
from pipeline.domain.results import ManifestRow
from pipeline.errors import ExportError

ODD = [
    'say "so"',
    "back\\slash",
    "tab\tline\nfeed\r",
    "\u2028\u2029",
    "\N{GRINNING FACE} \ufffd",
    "\x01\x1f\x7f",
    "é\u0301",
]
STORABLE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=40)


def same_as_pydantic(line: bytes) -> bool:
    return ManifestRow.model_validate_json(line, strict=True).model_dump_json().encode() == line


def test_every_row_of_a_job_is_what_pydantic_would_have_written():
    job = completed_job()
    assert all(same_as_pydantic(manifest_line(job.header, record)) for record in job.records)


@pytest.mark.parametrize("odd", ODD)
def test_odd_words_are_escaped_as_pydantic_escapes_them(odd):
    evidence = Evidence(document_id=odd, turn=0, start=0, end=len(odd), quote=odd)
    action = CrmAction(
        action_key="cf1-" + "a" * 40,
        kind="follow_up",
        owner=odd,
        text=odd,
        source_document_ids=(odd,),
        evidence=(evidence,),
        disposition="proposed",
    )
    record = plain_record(
        document_id=odd,
        account_id=odd,
        summary=odd,
        error_detail=odd,
        model=odd,
        actions_json=TypeAdapter(tuple[CrmAction, ...]).dump_json((action,)).decode(),
    )
    line = manifest_line(plain_header(1), record)
    assert same_as_pydantic(line)
    assert b"\n" not in line
    assert ManifestRow.model_validate_json(line).summary == odd


@given(STORABLE, st.none() | STORABLE, st.none() | st.floats(0, 1e300), st.none() | st.integers(0, 2**60))
def test_any_storable_text_and_any_amount_is_written_as_pydantic_writes_it(document_id, words, cost, tokens):
    record = plain_record(
        document_id=document_id, summary=words, error_detail=words, model=words, cost_usd=cost, input_tokens=tokens
    )
    assert same_as_pydantic(manifest_line(plain_header(1), record))


@pytest.mark.parametrize("cost", [math.inf, math.nan, -1.0])
def test_a_cost_that_is_no_amount_of_money_is_refused(cost):
    with pytest.raises(ExportError, match=r"call-0.*cost_usd"):
        manifest_line(plain_header(1), plain_record(cost_usd=cost))


def test_stored_json_on_two_lines_is_refused_without_repeating_it():
    with pytest.raises(ExportError, match="call-0") as refused:
        manifest_line(plain_header(1), plain_record(actions_json='[\n"secret"]'))
    assert "secret" not in str(refused.value)
