"""What the ledger tells of how fast things went: a job's step of tuning, and what a profile's calls took before."""

from datetime import timedelta
from uuid import uuid4

import pytest
from ledger_rows import insert, new_job, opened, value

from pipeline.ledger import measures


def attempt(ledger, job_id, position, *, began, ended, code=None, calls=()):
    """An attempt from `began` to `ended`, seconds after the first; its calls as (step, seconds, tokens, code)."""
    attempt_id = uuid4()
    with opened(ledger) as tx:
        start = tx.exec_driver_sql("SELECT created_at FROM jobs WHERE job_id = %s", (job_id,)).scalar_one()
        at = [start + timedelta(seconds=seconds) for seconds in (began, began, ended)]
        times = dict(zip(("published_at", "started_at", "ended_at"), at, strict=True))
        outcome = {"outcome": "requeued" if code else "succeeded", "error_code": code}
        if code is None:
            outcome |= {"summary": "s", "actions": "[]", "result_hash": "h", "warnings": "[]"}
        where = {"job_id": job_id, "position": position, "number": 10 + began, "dispatch_id": uuid4(), "worker": "w"}
        insert(tx, "attempts", {"attempt_id": attempt_id, **where, **times, **outcome})
        for sequence, (step, seconds, tokens, failed) in enumerate(calls, 1):
            row = {"attempt_id": attempt_id, "sequence": sequence, "step": step, "latency_seconds": seconds}
            insert(tx, "calls", row | {"output_tokens": tokens, "error_code": failed})


@pytest.fixture
def job_id(ledger):
    job_id = new_job(ledger, ["fresh", "fresh", "fresh"], profile="nightly")
    attempt(ledger, job_id, 0, began=0, ended=4, calls=[("summary", 1.0, 100, None), ("actions", 3.0, 20, None)])
    attempt(ledger, job_id, 1, began=1, ended=2, code="rate_limited", calls=[("summary", 0.1, None, "rate_limited")])
    attempt(ledger, job_id, 2, began=2, ended=3, code="input_too_large")
    attempt(
        ledger,
        job_id,
        1,
        began=5,
        ended=10,
        calls=[("summary", 2.0, 300, None), ("actions", 1.0, 10, "invalid_output"), ("actions", 4.0, None, None)],
    )
    return job_id


def test_a_job_is_measured_from_its_first_start_to_its_last_end(ledger, job_id):
    with ledger.statement() as tx:
        found = measures.of_job(tx, job_id)
    assert (found.documents, found.seconds) == (2, 10.0)
    assert found.median_latency == 2.5
    assert 3.8 < found.p95_latency <= 4.0
    assert found.codes == {"input_too_large": 1, "invalid_output": 1, "rate_limited": 1}


def test_a_job_that_nobody_has_worked_on_measures_nothing(ledger):
    with ledger.statement() as tx:
        found = measures.of_job(tx, new_job(ledger, ["fresh"]))
    assert (found.documents, found.seconds, found.median_latency, found.codes) == (0, 0.0, None, {})


def test_a_profile_is_known_by_the_calls_that_answered(ledger, job_id):
    with ledger.statement() as tx:
        found = measures.of_profile(tx, "nightly")
        assert measures.of_profile(tx, "another") == {}
    assert found == {
        "actions": measures.StepMeasures(2, 20.0, 3.5),
        "summary": measures.StepMeasures(2, 200.0, 1.5),
    }
    assert job_id


@pytest.mark.parametrize(
    ("kinds", "waits"),
    [
        (["fresh", "succeeded", "running"], False),
        (["fresh", "released"], True),
        (["fresh", "waiting"], True),
    ],
)
def test_a_document_waits_once_it_has_a_lane_or_its_retry_is_due(ledger, kinds, waits):
    job_id = new_job(ledger, kinds)
    with ledger.transaction() as tx:
        tx.exec_driver_sql(
            "UPDATE items SET released_at = released_at - interval '7 seconds', "
            "available_at = available_at - interval '7 seconds'"
        )
    with ledger.statement() as tx:
        age = measures.oldest_runnable(tx, job_id)
    assert (age >= 7.0) if waits else (age == 0.0)
    assert value(ledger, "SELECT count(*) FROM items") == len(kinds)
