"""A long call through a model over HTTP in three attempts: halved, broken off, given back, resumed."""

import pytest
from ledger_bench import work_off
from ledger_rows import check, document, item, rows, update, value

from benchmarks.model_server import SUMMARY, answer, reply, say, serving, whole
from pipeline.settings import Prices, Profile
from pipeline.stages.admit import admit
from pipeline.stages.reconcile import reconcile
from pipeline.stages.submit import submit
from pipeline.summarizers.openai_chat.summarizer import OpenAIChat

SAID = " ".join(f"This is sentence number {number}, and it says nothing that matters at all." for number in range(400))
BEGUN, REST = "They agreed on the price.", "The offer comes on Friday."


class Provider:
    """It has less context than is said of it; its answer to part 2 breaks off, and then `then` is called."""

    def __init__(self):
        self.begun, self.progress = [], []

    def __call__(self, asked):
        self.progress.append(self.look())
        if len(asked.words) > 16_000:
            return [reply(400, {"error": {"code": "context_length_exceeded", "message": "x"}})]
        if "Part 2 of" not in asked.words or asked.is_structured:
            return answer(asked)
        self.begun.append([said["content"] for said in asked.body["messages"] if said["role"] == "assistant"])
        if len(self.begun) == 1:
            return [say(f"{BEGUN} They want"), {"cut": True}]
        self.then()
        return whole(REST)


@pytest.fixture
def provider():
    return Provider()


@pytest.fixture
def model_server(provider):
    with serving(provider) as started:
        yield started


@pytest.fixture
def settings(settings, model_server, tmp_path):
    profile = Profile(
        summarizer="openai_chat",
        base_url=model_server.url,
        model="m",
        context_tokens=8_000,
        output_tokens=1_000,
        requests_per_minute=6_000_000,
        prices=Prices(input=1.0, output=4.0),
    )
    return settings.model_copy(update={"profiles": {"model": profile}, "data_dir": tmp_path})


def test_each_attempt_asks_for_the_rest_alone_in_the_room_that_was_found(
    ledger, settings, bench, provider, model_server
):
    worker = bench(summarizer=OpenAIChat(settings.profile("model"), settings.vocabularies))
    job_id = submit(ledger, settings, [document(0, SAID)], {"profile": "model"}, "key").job_id

    def shut_the_gate():
        update(ledger, "gates", "requests_due = clock_timestamp() + interval '1 hour'", "true")

    def again():
        update(ledger, "gates", "requests_due = NULL, paused_until = NULL", "true")
        update(ledger, "items", "available_at = clock_timestamp()", "job_id = %(job)s", job=job_id)
        for command in reconcile(ledger, settings.lease_seconds, "w"):
            if hasattr(command, "released"):
                work_off(worker, command.released)

    def kept():
        return rows(
            ledger,
            "SELECT step, chunk, text, done FROM checkpoints WHERE job_id = %s ORDER BY chunk, step DESC",
            job_id,
        )

    provider.then, provider.look = shut_the_gate, lambda: item(ledger, job_id).progress
    work_off(worker, admit(ledger, job_id).released[0])
    first_part = [("summary", 0, SUMMARY, True), ("actions", 0, '{"actions": []}', True)]
    assert kept() == [*first_part, ("summary", 1, BEGUN, False)]
    again()
    assert kept() == [*first_part, ("summary", 1, f"{BEGUN} {REST}", True)]
    again()
    assert kept() == []
    assert item(ledger, job_id).state == "succeeded"
    assert provider.begun == [[], [BEGUN]]
    assert asked_by_attempt(ledger, job_id) == [
        (1, "summary", 0, "input_too_large", "context_too_long"),
        (1, "summary", 0, None, None),
        (1, "actions", 0, None, None),
        (1, "summary", 1, "provider_unavailable", "stream_incomplete"),
        (2, "summary", 1, None, None),
        (3, "actions", 1, None, None),
        (3, "summary", 2, None, None),
        (3, "actions", 2, None, None),
        (3, "reduce", 0, None, None),
    ]
    assert provider.progress == [0, 0, 12, 25, 0, 0, 50, 62, 75], "what was found whole counts, too"
    told = [asked for asked in model_server.asked if asked.ended == "whole" and asked.pieces]
    used = (
        "SELECT sum(calls.input_tokens), sum(calls.output_tokens) FROM calls JOIN attempts USING (attempt_id) "
        "WHERE job_id = %s"
    )
    assert rows(ledger, used, job_id) == [
        (sum(len(asked.words) // 4 for asked in told), sum(asked.pieces for asked in told))
    ]
    unknown = "SELECT array_agg(unknown_calls ORDER BY number) FROM attempts WHERE job_id = %s"
    assert value(ledger, unknown, job_id) == [1, 0, 0]
    ended = "SELECT number, outcome, error_code FROM attempts WHERE job_id = %s ORDER BY number"
    assert rows(ledger, ended, job_id) == [
        (1, "requeued", "provider_unavailable"),
        (2, "requeued", None),
        (3, "succeeded", None),
    ]
    check(ledger, job_id)


def asked_by_attempt(ledger, job_id):
    return rows(
        ledger,
        "SELECT number, step, chunk, calls.error_code, condition FROM calls JOIN attempts USING (attempt_id) "
        "WHERE job_id = %s ORDER BY number, sequence",
        job_id,
    )
