"""One document inline: what a job of it would say, within the caller's time, and nothing left behind."""

import json

import pytest

from pipeline.domain.documents import DocumentInput, Turn
from pipeline.domain.results import Summary, Usage
from pipeline.errors import ItemFailure, NotFound, UseAJob
from pipeline.settings import Prices, Profile, Settings
from pipeline.stages.summarize_inline import summarize_inline
from pipeline.summarizers.port import Demand, Step
from pipeline.transcripts.batch import incoming

SAID = "I will send you the signed order form by Friday."


def document(**fields):
    given = {"document_id": "c-1", "account_id": "acme", "turns": [Turn(speaker="Bea", text=SAID)]} | fields
    return incoming(DocumentInput(**given), "here")


def settings(tmp_path, **profile):
    return Settings(data_dir=tmp_path / "data", profiles={"fast": Profile(**{"summarizer": "extractive"} | profile)})


class Calling:
    """A summarizer that makes so many calls, each of 100 tokens in and 10 out, then answers or fails."""

    name = "calling"

    def __init__(self, calls=1, answer=None, failure=None):
        self._calls, self._answer, self._failure = calls, answer, failure
        self.seconds = []

    def summarize(self, _request, attempt):
        for _ in range(self._calls):
            with attempt.call(Step("summary"), Demand(100, 50)) as call:
                self.seconds.append(call.seconds)
                call.usage = Usage(input_tokens=100, output_tokens=10)
                if self._failure is not None:
                    raise self._failure
        return self._answer


def summary(*actions):
    return Summary.model_validate({"summary": "An order is coming.", "actions": actions, "model": "small-1"})


def test_a_quote_that_was_said_is_evidence_and_one_that_was_not_is_for_review(tmp_path):
    said = {"kind": "follow_up", "text": "Send the form", "owner": "Bea", "quotes": [{"quote": SAID}]}
    unsaid = {"kind": "follow_up", "text": "Call back", "quotes": [{"quote": "I will call you back tomorrow."}]}
    stage = {"kind": "update_stage", "text": "Won", "proposed_stage": "won", "quotes": [{"quote": SAID}]}
    found = summarize_inline(
        settings(tmp_path), "fast", document(), 30, by=Calling(2, answer=summary(said, unsaid, stage))
    )
    assert (found.state, found.attempt_count, found.model) == ("succeeded", 1, "small-1")
    assert {action.text: (action.disposition, action.reasons) for action in found.actions} == {
        "Send the form": ("proposed", ()),
        "Call back": ("review_only", ("quote_not_found",)),
        "Won": ("review_only", ("stage_change",)),
    }
    [evidence] = found.actions[-1].evidence
    assert (evidence.document_id, evidence.turn, evidence.quote) == ("c-1", 0, SAID)
    assert all(action.action_key.startswith("cf1-") for action in found.actions)


def test_what_it_took_is_counted_and_priced(tmp_path):
    profile = settings(tmp_path, prices=Prices(input=1.0, output=10.0))
    found = summarize_inline(profile, "fast", document(), 30, by=Calling(2, answer=summary()))
    assert (found.usage.input_tokens, found.usage.output_tokens) == (200, 20)
    assert found.usage.cost_usd == pytest.approx(0.0004)


def test_no_call_may_outlast_the_callers_time(tmp_path):
    calling = Calling(2, answer=summary())
    summarize_inline(settings(tmp_path), "fast", document(), 7.0, by=calling)
    assert all(seconds <= 7.0 for seconds in calling.seconds)


def test_time_that_is_over_between_two_calls_says_use_a_job(tmp_path):
    with pytest.raises(UseAJob, match="use a job, with `callfold run`"):
        summarize_inline(settings(tmp_path), "fast", document(), 0.0, by=Calling(2, answer=summary()))


@pytest.mark.parametrize("code", ["rate_limited", "provider_timeout", "refused"])
def test_a_failure_is_the_documents_result_with_its_code(code, tmp_path):
    failing = Calling(failure=ItemFailure(code, "our own words"))
    found = summarize_inline(settings(tmp_path), "fast", document(), 30, by=failing)
    assert (found.state, found.error_code, found.error_detail) == ("failed", code, "our own words")
    assert (found.summary, found.actions, found.attempt_count) == (None, None, 1)
    assert found.usage.input_tokens == 100


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        ({"turns": [Turn(text=" ")]}, "empty_input"),
        ({"turns": None, "transcript": "\x00\x01" * 400}, "unreadable_input"),
    ],
)
def test_a_bad_document_ends_before_any_attempt(bad, code, tmp_path):
    found = summarize_inline(settings(tmp_path), "fast", document(**bad), 30, by=Calling())
    assert (found.state, found.error_code, found.attempt_count) == ("failed", code, 0)


def test_a_document_over_the_profiles_limit_costs_no_call(tmp_path):
    calling = Calling(answer=summary())
    long = document(turns=[Turn(text="word " * 500)])
    found = summarize_inline(settings(tmp_path, max_input_tokens=100), "fast", long, 30, by=calling)
    assert (found.error_code, calling.seconds) == ("input_too_large", [])


def test_nothing_but_a_vocabulary_is_left_behind(tmp_path):
    long = document(turns=[Turn(text="word " * 500)])
    summarize_inline(settings(tmp_path, max_input_tokens=1000), "fast", long, 30, by=Calling(answer=summary()))
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["tiktoken"]


def test_an_unknown_profile_is_named(tmp_path):
    with pytest.raises(NotFound, match="nobody"):
        summarize_inline(Settings(data_dir=tmp_path), "nobody", document(), 30)


def test_it_says_what_the_row_of_a_job_would_say(tmp_path):
    """The row's fields of the contract, as JSON."""
    found = summarize_inline(Settings(data_dir=tmp_path), "extractive", document(), 30)
    shown = json.loads(found.model_dump_json())
    assert shown.keys() >= {
        "document_id", "position", "state", "attempt_count", "attempt_id", "summary", "actions", "error_code",
        "error_detail", "warnings",
    }  # fmt: skip
    assert shown["state"] == "succeeded"
    assert SAID in shown["summary"]
