"""One document inline by a model over HTTP: two calls within the caller's time, or a word why not."""

import json

import pytest
from openai_chat_bed import profile_of

from benchmarks.model_server import answer, reply, serving, whole
from pipeline.domain.documents import DocumentInput, Turn
from pipeline.errors import UseAJob
from pipeline.settings import Settings
from pipeline.stages.summarize_inline import summarize_inline
from pipeline.transcripts.batch import incoming

SAID = "I will send you the signed order form by Friday."
ACTION = {
    "kind": "follow_up",
    "text": "Send the order form",
    "owner": "Bea",
    "due_text": "by Friday",
    "due_on": None,
    "proposed_stage": None,
    "quotes": [{"turn": 1, "quote": SAID}],
}


def document(*texts):
    turns = [
        Turn(speaker=speaker, text=text) for speaker, text in zip(("Ann", "Bea") * len(texts), texts, strict=False)
    ]
    return incoming(DocumentInput(document_id="c-1", account_id="acme", turns=turns), "here")


def inline(server, tmp_path, one, seconds=30.0, **profile):
    settings = Settings(data_dir=tmp_path, profiles={"nightly": profile_of(server, **profile)})
    return summarize_inline(settings, "nightly", one, seconds, language="German")


def acting(asked):
    return whole(json.dumps({"actions": [ACTION]})) if asked.is_structured else answer(asked)


def test_two_calls_give_a_summary_and_actions_with_evidence(tmp_path):
    with serving(acting) as server:
        found = inline(server, tmp_path, document("Hello.", SAID), prices={"input": 1.0, "output": 4.0})
    assert (found.state, found.model) == ("succeeded", "scripted-model")
    [action] = found.actions
    assert (action.owner, action.disposition, action.evidence[0].quote) == ("Bea", "proposed", SAID)
    assert [asked.is_structured for asked in server.asked] == [False, True]
    assert all("German" in asked.words for asked in server.asked[:1])
    assert found.usage.output_tokens == sum(asked.pieces for asked in server.asked)
    assert found.usage.cost_usd > 0
    assert found.usage.unknown_calls == 0


def test_a_document_that_is_read_in_parts_needs_a_job_before_any_call(tmp_path):
    long = document(*["We talked about the price and the delivery of the scanners for a while. " * 40] * 20)
    with serving() as server, pytest.raises(UseAJob, match=r"the document takes \d+ calls"):
        inline(server, tmp_path, long, context_tokens=4_000, output_tokens=400)
    assert server.asked == []


def test_time_that_is_over_in_the_midst_of_a_call_needs_a_job(tmp_path):
    with serving(lambda asked: answer(asked, 60.0)) as server, pytest.raises(UseAJob, match="1 s were over"):
        inline(server, tmp_path, document("Hello.", SAID), seconds=1.0)
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("status", "code"), [(401, "provider_auth"), (429, "rate_limited"), (500, "provider_unavailable")]
)
def test_a_refusal_is_the_documents_result_at_once(status, code, tmp_path):
    with serving(lambda _: [reply(status, {"error": {"message": SAID}}, {"retry-after": "30"})]) as server:
        found = inline(server, tmp_path, document("Hello.", SAID))
    assert (found.state, found.error_code, len(server.asked)) == ("failed", code, 1)
    assert SAID not in found.error_detail
