"""The client and a whole job against a real model server, given by URL: `make test-model MODEL_URL=http://…/v1`.

`MODEL` names the model (else the first that the server lists), `MODEL_DIALECT` its dialect of structured output,
`MODEL_CONTEXT` its context in tokens, `MODEL_KEY` its key. How good the answers are is not asked: a tiny model's are
nonsense. What must hold is that nothing of it goes further than it may.
"""

import json
import os
import sys
import urllib.request
from pathlib import Path

import pytest
from desktop import Desktop

from pipeline.domain.documents import DocumentFields, Transcript, Turn
from pipeline.domain.failure import POLICIES
from pipeline.domain.verify_quotes import verify_quotes
from pipeline.errors import ItemFailure
from pipeline.settings import Profile
from pipeline.summarizers.openai_chat.model import Model, Question
from pipeline.summarizers.openai_chat.summarizer import OpenAIChat
from pipeline.summarizers.port import Demand, Step, SummaryRequest
from pipeline.summarizers.unrecorded import Unrecorded

URL = os.environ.get("MODEL_URL", "")
CALLS = Path(__file__).parents[3] / "examples" / "calls"
NAMES = ("tidewater-clinics/2026-03-27-check-in.txt", "karst-logistics/2026-04-09-yard-walk.txt")
#: Of one job of three calls on a server that writes nine tokens a second.
JOB_SECONDS = 1_500
ENDINGS = {"invalid_output", "output_truncated"}
SCHEMA = {
    "type": "object",
    "properties": {"kind": {"type": "string", "enum": ["follow_up", "none"]}, "sure": {"type": "boolean"}},
    "required": ["kind", "sure"],
    "additionalProperties": False,
}

pytestmark = [
    pytest.mark.skipif(not URL, reason="MODEL_URL is not set"),
    pytest.mark.timeout(JOB_SECONDS + 300),
]


@pytest.fixture(scope="module")
def settings():
    """The profile as a user would write it."""
    return {
        "summarizer": "openai_chat",
        "base_url": URL,
        "model": os.environ.get("MODEL") or _first_model(),
        "encoding": "cl100k_base",
        "context_tokens": int(os.environ.get("MODEL_CONTEXT", "4096")),
        "output_tokens": 300,
        "output_cap": "max_tokens",
        "structured_output": os.environ.get("MODEL_DIALECT", "json_schema"),
        "call_seconds": 240.0,
        "idle_seconds": 200.0,
        "temperature": 0.0,
        "seed": 7,
    }


@pytest.fixture
def profile(settings):
    return Profile(**settings, api_key=os.environ.get("MODEL_KEY"))


def _first_model():
    request = urllib.request.Request(f"{URL.rstrip('/')}/models")  # noqa: S310 - the address is the caller's
    if key := os.environ.get("MODEL_KEY"):
        request.add_header("authorization", f"Bearer {key}")
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - see above
        return json.load(answer)["data"][0]["id"]


def _told(rows, calls):
    """What happened, for whoever runs it: states, calls, and nothing that was said."""
    lines = [f"{row['document_id']}: {row['state']} {row['error_code'] or ''} {row['usage']}" for row in rows]
    lines += [f"    {', '.join(action['disposition'] for action in row['actions'])}" for row in rows if row["actions"]]
    for call in calls:
        told = (call["error_code"], call["condition"], call["input_tokens"], call["output_tokens"])
        lines.append(f"{call['step']} {call['latency_seconds']:.1f} s, {told}")
    return "\n".join(["", *lines, ""])


def ask(profile, output_tokens, schema=None):
    """One call: its text or its failure, its report, and the pieces that were heard."""
    pieces = []
    messages = (
        {"role": "system", "content": "You answer in one short sentence."},
        {"role": "user", "content": "Anna sends the offer to Ben on Friday. What happens on Friday?"},
    )
    attempt = Unrecorded(profile, 300.0)
    try:
        with attempt.call(Step("summary"), Demand(200, output_tokens)) as call:
            return Model(profile).ask(Question(messages, output_tokens, schema), call, pieces.append), call, pieces
    except ItemFailure as failed:
        return failed, call, pieces


def test_text_is_streamed_piece_by_piece_and_an_endless_one_ends_at_its_cap(profile):
    answer, call, pieces = ask(profile, 64)
    assert len(pieces) > 1
    assert call.model
    if isinstance(answer, ItemFailure):
        assert answer.error_code in ENDINGS
    else:
        assert answer == "".join(pieces)


def test_a_structured_answer_holds_the_grammar_or_is_refused(profile):
    answer, _, _ = ask(profile, 64, SCHEMA)
    if isinstance(answer, ItemFailure):
        assert answer.error_code in ENDINGS
    elif profile.structured_output in {"json_schema", "json_object_schema"}:
        assert set(json.loads(answer)) == {"kind", "sure"}


class Summarized(Unrecorded):
    """An attempt whose summary an earlier one has finished."""

    def writing(self, step, origin):
        draft = super().writing(step, origin)
        if step.name == "summary":
            draft.add("They agreed on an offer.")
            draft.finish(50)
        return draft


def test_the_actions_of_a_call_hold_our_own_schema_and_what_nobody_said_is_reviewed(profile, tmp_path_factory):
    said = [line.split(": ", 1) for line in (CALLS / NAMES[0]).read_text().splitlines() if ": " in line]
    transcript = Transcript(turns=tuple(Turn(speaker=speaker, text=text) for speaker, text in said))
    fields = DocumentFields(document_id="call", account_id="acme")
    attempt = Summarized(profile, 900.0)
    summarizer = OpenAIChat(profile, tmp_path_factory.getbasetemp() / "vocabularies")
    try:
        actions = summarizer.summarize(SummaryRequest(fields, transcript, None), attempt).actions
    except ItemFailure as failed:
        actions, ended = (), failed.error_code
    else:
        ended = "succeeded"
    assert ended in {"succeeded", *ENDINGS}
    assert {step.name for step, _ in attempt.reports} == {"actions"}
    found = verify_quotes(actions, fields, transcript, lambda _: None)
    assert all(action.evidence or action.reasons for action in found)
    sys.stdout.write(f"\nactions: {ended}, {len(attempt.reports)} calls, {[action.reasons for action in found]}\n")


def test_a_job_of_real_calls_ends_with_every_row_and_leaks_nothing(settings, tmp_path, monkeypatch):
    monkeypatch.setattr("desktop.LIMIT_SECONDS", JOB_SECONDS)
    desk = Desktop(tmp_path)
    desk.env |= {"CALLFOLD_PROFILES": json.dumps({"real": settings}), "CALLFOLD_ATTEMPT_SECONDS": "900"}
    if key := os.environ.get("MODEL_KEY"):
        desk.env["CALLFOLD_PROFILES__REAL__API_KEY"] = key
    calls = [CALLS / name for name in NAMES]
    seal = desk.ask("run", *map(str, calls), "--profile", "real", "--concurrency", "1", "--account", "acme")
    rows = [json.loads(line) for line in (tmp_path / "out" / "manifest.ndjson").read_text().splitlines()]
    assert len(rows) == len(calls)
    for row in rows:
        assert row["error_code"] is None or row["error_code"] in ENDINGS & POLICIES.keys()
        for action in row["actions"]:
            assert action["evidence"] or action["disposition"] == "review_only"
    desk.ask("verify", "out", *map(str, calls))
    shown = [desk.ask("show", seal["job_id"], row["document_id"]) for row in rows]
    calls_made = [call for item in shown for attempt in item["attempts"] for call in attempt["calls"]]
    assert {call["step"] for call in calls_made} >= {"summary"}
    assert all(call["latency_seconds"] > 0 and call["reserved_tokens"] > 0 for call in calls_made)
    sys.stdout.write(_told(rows, calls_made))
    said = {line.split(": ", 1)[1] for path in calls for line in path.read_text().splitlines() if ": " in line}
    said |= {line for row in rows for line in (row["summary"] or "").splitlines()}
    logs = "".join(path.read_text() for path in (tmp_path / ".callfold" / "logs").glob("*.log"))
    assert not [words for words in said if len(words) > 12 and words in logs]
