"""A job with a budget and a model of prices, worked off by real workers: it stops in time, and a retry goes on."""

import json

import pytest
from scripted import calls

from benchmarks.model_server import answer, serving
from pipeline.ledger import budgets
from pipeline.stages.amend import amend

BUDGET = 7_000
PROFILE = {"summarizer": "openai_chat", "model": "m", "api_key": "k", "prices": {"input": 1.0, "output": 4.0}}


@pytest.fixture
def server():
    with serving(lambda asked: answer(asked, 0.3)) as started:
        yield started


@pytest.fixture
def desk(crew, open_desk, server):
    profiles = {"model": {**PROFILE, "base_url": server.url}}
    crew.work(env={"CALLFOLD_PROFILES": json.dumps(profiles)})
    desk = open_desk()
    desk.know(profiles)
    yield desk
    crew.dismiss()


def taken(desk, job_id):
    with desk.ledger.statement() as tx:
        return budgets.of_job(tx, job_id).tokens_taken


def test_a_job_stops_within_its_budget_and_its_retry_goes_on_with_the_rest(desk, server):
    seen = []
    first = desk.submit(calls(24), profile="model", concurrency=6, budget_tokens=BUDGET)
    before = desk.bundle(first, seconds=90, meanwhile=lambda: seen.append(taken(desk, first)))
    found = [(row["state"], row["error_code"]) for row in before.rows]
    assert set(found) == {("succeeded", None), ("skipped", "budget_exhausted")}
    used = desk.job(first).usage
    assert used.input_tokens + used.output_tokens == taken(desk, first) <= max(seen) <= BUDGET
    # Who waited for the others' calls was tried again a few times, and not all the time.
    assert max(row["attempt_count"] for row in before.rows) < 10

    asked = len(server.asked)
    second = amend(desk.ledger, desk.settings, first, ["budget_exhausted"], {"budget_tokens": 100 * BUDGET}).job_id
    desk.send("admit", second)
    after = desk.bundle(second)
    assert {row["state"] for row in after.rows} == {"succeeded"}
    assert len(server.asked) - asked == 2 * found.count(("skipped", "budget_exhausted"))
    assert taken(desk, first) < taken(desk, second)
