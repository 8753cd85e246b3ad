"""Jobs of every shape, and what can be done to one that runs."""

import pytest
from crew import wait_for
from scripted import call, calls, succeed

from pipeline.ledger import gates
from pipeline.stages.cancel import cancel
from pipeline.stages.commands import Freeze

SCRIPT = {
    "default": [succeed(seconds=0.02)],
    "documents": {
        "slow": [succeed(seconds=3.0)],
        "half": [succeed(seconds=0.5)],
        "half-too": [succeed(seconds=0.5)],
        "limited": [{"do": "fail", "code": "rate_limited", "retry_after": 1.5, "seconds": 0.3}, succeed()],
        "crowded": [{"do": "fail", "code": "provider_unavailable"}, succeed()],
    },
}
BLANK = {"transcript": "", "turns": None}


@pytest.fixture
def desk(crew, open_desk):
    crew.work(SCRIPT)
    return open_desk()


@pytest.mark.parametrize(
    ("documents", "concurrency"),
    [(1, 1), (1, 8), (7, 1), (3, 8), (20, 3)],
    ids=["one", "one-of-many-lanes", "one-lane", "more-lanes-than-documents", "more-documents-than-lanes"],
)
def test_a_job_of_any_shape_ends_with_every_row(desk, documents, concurrency):
    job_id = desk.submit(calls(documents), concurrency=concurrency)
    with desk.watched(job_id):
        bundle = desk.bundle(job_id)
    assert {(row["state"], row["attempt_count"]) for row in bundle.rows} == {("succeeded", 1)}
    assert max(running_at_once(desk.attempts(job_id))) <= concurrency


def test_a_job_of_documents_that_were_born_failed_completes_without_a_call(crew, desk):
    bundle = desk.bundle(desk.submit([call("empty", " "), call("empty-too", "", "\n")]))
    assert [(row["error_code"], row["attempt_count"]) for row in bundle.rows] == [("empty_input", 0)] * 2
    assert bundle.seal["job_state"] == "completed"
    assert crew.calls() == []


def test_a_slow_document_holds_only_its_own_lane(desk):
    job_id = desk.submit([call("slow"), *calls(20)], concurrency=2)
    desk.bundle(job_id)
    slow, *others = desk.items(job_id)
    assert all(other.finished_at < slow.finished_at for other in others)


def test_a_small_job_ends_before_a_large_one_that_came_first(desk):
    large = desk.submit(calls(150))
    desk.until_settled(large, 8)
    small = desk.submit(calls(3))
    desk.bundle(small)
    left = desk.job(large).counts
    assert left.pending > 0
    desk.bundle(large)


def test_a_document_that_must_wait_gives_its_lane_to_others(desk):
    job_id = desk.submit([call("crowded"), *calls(4)], concurrency=1)
    bundle = desk.bundle(job_id)
    assert [row["attempt_count"] for row in bundle.rows] == [2, 1, 1, 1, 1]
    crowded, *others = desk.items(job_id)
    assert all(other.finished_at < crowded.finished_at for other in others)


def test_a_rate_limit_pauses_every_lane_and_reconcile_opens_them_again(desk):
    job_id = desk.submit([call("limited"), call("half"), call("half-too"), *calls(6)], concurrency=3)
    gate = wait_for(lambda: desk.query("SELECT * FROM gates"))[0]
    other = desk.submit(calls(2))
    bundle = desk.bundle(job_id)
    desk.bundle(other)
    assert [row["attempt_count"] for row in bundle.rows] == [2, *[1] * 8]
    attempts = desk.attempts(job_id)
    limited = attempts[0]
    assert (limited.outcome, limited.error_code) == ("requeued", "rate_limited")
    later = [one for one in attempts if one.started_at > limited.ended_at] + desk.attempts(other)
    assert len(later) == 7 + 2
    assert all(one.started_at >= gate.paused_until for one in later)
    assert desk.items(job_id)[0].charged == 0  # being limited costs no attempt


def test_a_released_document_before_a_paused_gate_gives_its_lane_back(crew, desk):
    crew.process.pause()
    try:
        job_id = desk.submit(calls(4), concurrency=2)
        desk.until(job_id, lambda job: job.counts.running == 2)
        with desk.ledger.transaction() as tx:
            gates.pause(tx, "scripted", 1.0, "rate_limited")
    finally:
        crew.process.resume()
    bundle = desk.bundle(job_id)
    assert {(row["state"], row["attempt_count"]) for row in bundle.rows} == {("succeeded", 1)}
    held = desk.query("SELECT position FROM events WHERE job_id = %s AND kind = 'held' ORDER BY position", job_id)
    assert held == [(0,), (1,)]


def test_a_cancelled_job_starts_nothing_more_and_freezes_what_there_is(desk):
    job_id = desk.submit([call("half"), call("half-too"), *calls(30)], concurrency=2)
    wait_for(lambda: sum(item.state == "running" for item in desk.items(job_id)) == 2)
    with desk.watched(job_id):
        assert cancel(desk.ledger, job_id) == ()
        assert cancel(desk.ledger, job_id) == ()
        bundle = desk.bundle(job_id)
    assert bundle.seal["job_state"] == "cancelled"
    assert [row["state"] for row in bundle.rows] == ["succeeded"] * 2 + ["skipped"] * 30
    assert {row["error_code"] for row in bundle.rows[2:]} == {"cancelled"}
    assert bundle.actions == []


def test_a_job_cancelled_before_it_was_admitted_is_frozen(desk):
    job_id = desk.store(calls(3)).job_id
    assert cancel(desk.ledger, job_id) == (Freeze(job_id),)
    desk.send("admit", job_id)
    bundle = desk.bundle(job_id)
    assert [row["error_code"] for row in bundle.rows] == ["cancelled"] * 3


def test_at_its_deadline_a_job_ends_and_a_later_result_is_kept_but_not_applied(desk):
    job_id = desk.submit([call("slow"), *calls(2)], concurrency=1, deadline_seconds=1)
    bundle = desk.bundle(job_id)
    expires_at = desk.job(job_id).expires_at
    assert [(row["state"], row["error_code"]) for row in bundle.rows] == [("failed", "expired")] * 3
    assert {item.finished_at for item in desk.items(job_id)} == {expires_at}
    wait_for(lambda: desk.attempts(job_id)[0].outcome == "late")
    assert desk.attempts(job_id)[0].summary is not None
    assert desk.items(job_id)[0].state == "failed"
    assert desk.bundle(job_id).rows == bundle.rows


def running_at_once(attempts):
    """How many attempts ran at each start."""
    return [sum(other.started_at <= one.started_at < other.ended_at for other in attempts) for one in attempts]
