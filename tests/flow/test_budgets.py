"""A job with a budget and a model of prices, worked off by real workers: it stops in time, and a retry goes on."""

import pytest
from scripted import calls

from benchmarks.model_server import answer, serving
from pipeline.ledger import budgets
from pipeline.stages.amend import amend

BUDGET = 7_000


@pytest.fixture
def server():
    with serving(lambda asked: answer(asked, 0.3)) as started:
        yield started


def taken(desk, job_id):
    with desk.ledger.statement() as tx:
        return budgets.of_job(tx, job_id).tokens_taken


def test_a_job_stops_within_its_budget_and_its_retry_goes_on_with_the_rest(model_desk, server):
    seen = []
    first = model_desk.submit(calls(24), profile="model", concurrency=6, budget_tokens=BUDGET)
    before = model_desk.bundle(first, seconds=90, meanwhile=lambda: seen.append(taken(model_desk, first)))
    found = [(row["state"], row["error_code"]) for row in before.rows]
    assert set(found) == {("succeeded", None), ("skipped", "budget_exhausted")}
    used = model_desk.job(first).usage
    assert used.input_tokens + used.output_tokens == taken(model_desk, first) <= max(seen) <= BUDGET

    budget = {"budget_tokens": 100 * BUDGET}
    second = amend(model_desk.ledger, model_desk.settings, first, ["budget_exhausted"], budget).job_id
    model_desk.send("admit", second)
    after = model_desk.bundle(second)
    assert {row["state"] for row in after.rows} == {"succeeded"}
    assert len(server.asked) == 2 * 24  # both steps of each document, once in both jobs
