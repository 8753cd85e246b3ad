"""Jobs of every shape, and what can be done to one that runs."""

from datetime import timedelta

import pytest
from crew import SLOTS, wait_for
from scripted import call, calls, succeed, until

from pipeline.stages.cancel import cancel
from pipeline.stages.commands import Freeze

#: A large job: as many documents as the worker has threads end at once, all others when the signal is given.
LARGE = [call(f"large-{n:03}") for n in range(4 * SLOTS)]
SCRIPT = {
    "default": [succeed(seconds=0.02)],
    "documents": {
        "slow": [succeed(**until("end"))],
        "slow-too": [succeed(**until("end"))],
        "limited": [{"do": "fail", "code": "rate_limited", "retry_after": 1.5, **until("limit")}, succeed()],
        "crowded": [{"do": "fail", "code": "provider_unavailable"}, succeed()],
        **{document.document_id: [succeed(**until("end"))] for document in LARGE[SLOTS:]},
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


def test_a_slow_document_holds_only_its_own_lane(crew, desk):
    job_id = desk.submit([call("slow"), *calls(20)], concurrency=2)
    desk.until_settled(job_id, 20)
    assert [item.state for item in desk.items(job_id)] == ["running", *["succeeded"] * 20]
    crew.give("end")
    desk.bundle(job_id)


def test_a_small_job_ends_before_a_large_one_that_came_first(crew, desk):
    """The messages of both are there before any is worked on; the rest of the large one then takes every thread."""
    crew.process.pause()
    try:
        large = desk.submit(LARGE, concurrency=SLOTS)
        desk.until(large, lambda job: job.counts.running == SLOTS)
        small = desk.submit(calls(3))
        desk.until(small, lambda job: job.counts.running == 3)
    finally:
        crew.process.resume()
    desk.bundle(small)
    assert desk.job(large).counts.pending > 0
    crew.give("end")
    desk.bundle(large)


def test_a_document_that_must_wait_gives_its_lane_to_others(desk):
    job_id = desk.submit([call("crowded"), *calls(4)], concurrency=1)
    bundle = desk.bundle(job_id)
    assert [row["attempt_count"] for row in bundle.rows] == [2, 1, 1, 1, 1]
    first, *others = sorted(desk.attempts(job_id), key=lambda attempt: attempt.started_at)
    assert (first.position, others[0].position) == (0, 1)
    [again] = [attempt for attempt in others if attempt.position == 0]
    assert again.started_at - first.ended_at >= timedelta(seconds=0.5)  # the shortest backoff of a first try


def test_a_rate_limit_pauses_every_lane_and_reconcile_opens_them_again(crew, desk):
    job_id = desk.submit([call("limited"), call("slow"), call("slow-too"), *calls(6)], concurrency=3)
    desk.until_running(job_id, 0, 1, 2)
    crew.give("limit")
    gate = wait_for(lambda: desk.query("SELECT * FROM gates"))[0]
    other = desk.submit(calls(2))
    crew.give("end")
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
            tx.exec_driver_sql(
                "INSERT INTO gates (profile, paused_until, error_code) "
                "VALUES ('scripted', clock_timestamp() + interval '3 seconds', 'rate_limited')"
            )
    finally:
        crew.process.resume()
    bundle = desk.bundle(job_id)
    assert {(row["state"], row["attempt_count"]) for row in bundle.rows} == {("succeeded", 1)}
    held = desk.query("SELECT position FROM events WHERE job_id = %s AND kind = 'held' ORDER BY position", job_id)
    assert held == [(0,), (1,)]


def test_a_cancelled_job_starts_nothing_more_and_freezes_what_there_is(crew, desk):
    job_id = desk.submit([call("slow"), call("slow-too"), *calls(30)], concurrency=2)
    desk.until_running(job_id, 0, 1)
    with desk.watched(job_id):
        assert cancel(desk.ledger, job_id) == ()
        assert cancel(desk.ledger, job_id) == ()
        crew.give("end")
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


def test_at_its_deadline_a_job_ends_and_a_later_result_is_kept_but_not_applied(crew, desk):
    job_id = desk.submit([call("slow"), *calls(2)], concurrency=1)
    desk.until_running(job_id, 0)
    with desk.ledger.transaction() as tx:
        tx.exec_driver_sql("UPDATE jobs SET expires_at = clock_timestamp() WHERE job_id = %s", (job_id,))
    bundle = desk.bundle(job_id)
    crew.give("end")
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
