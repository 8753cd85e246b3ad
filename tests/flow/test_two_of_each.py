"""Two of what there should be one of, and one that was away: whoever is late or twice changes nothing."""

from dataclasses import replace

import pytest
from crew import LEASE_SECONDS, SLOTS, wait_for
from scripted import call, calls, succeed, until

from pipeline.cli import programs
from pipeline.settings import Settings

ALL_WELL = {("succeeded", 1)}


@pytest.fixture
def twin(crew):
    """Starts a second worker for documents, as another host would; it goes with the test."""
    hired = []

    def start():
        program = programs.workers(Settings(data_dir=crew.data, process_slots=SLOTS))[0]
        argv = tuple(word.replace("process-", "twin-") for word in program.argv)
        hired.append(crew.run(replace(program, name="twin", argv=argv)))

    yield start
    for _ in hired:
        crew.let_go("twin")


def test_a_worker_that_was_stopped_past_its_lease_settles_late_and_nothing_happens_twice(crew, open_desk, twin):
    crew.work({"documents": {"slept": [succeed(summary="late", **until("woken")), succeed(summary="in time")]}})
    desk = open_desk()
    job_id = desk.submit([call("slept"), *calls(6)], concurrency=2)
    desk.until_running(job_id, 0)
    crew.process.pause()
    try:
        twin()
        bundle = desk.bundle(job_id)
        crew.give("woken")
    finally:
        crew.process.resume()
    wait_for(lambda: desk.attempts(job_id)[0].outcome == "late")
    first, second, *others = desk.attempts(job_id)
    assert (first.outcome, first.summary, second.outcome, second.summary) == ("late", "late", "succeeded", "in time")
    assert (first.position, second.position) == (0, 0)
    assert {attempt.outcome for attempt in others} <= {"succeeded", "lost", "late"}
    assert desk.bundle(job_id).rows == bundle.rows
    assert bundle.rows[0]["summary"] == "in time"
    asked = [(one["document_id"], one["attempt"]) for one in crew.calls()]
    assert len(asked) == len(set(asked))


def test_two_workers_with_every_message_twice_work_on_each_document_once(crew, open_desk, twin, broker):
    crew.work({"default": [succeed(seconds=0.05)]}, broker=broker, app="doubling")
    twin()
    desk = open_desk()
    wait_for(lambda: both_have_worked(desk, desk.submit(calls(2 * SLOTS), concurrency=2 * SLOTS)))
    before = len(crew.calls())
    job_id = desk.submit(calls(60), concurrency=2 * SLOTS)
    with desk.watched(job_id):
        bundle = desk.bundle(job_id)
    assert {(row["state"], row["attempt_count"]) for row in bundle.rows} == ALL_WELL
    assert len(crew.calls()) == before + 60


def both_have_worked(desk, job_id):
    desk.bundle(job_id)
    return len({attempt.worker for attempt in desk.attempts(job_id)}) == 2


def test_reconcilers_that_all_tick_at_once_change_nothing_twice(crew, open_desk):
    held = [succeed(**until("never")), succeed()]
    crew.work({"default": [succeed(seconds=0.02)], "documents": {"call-020": held}}, app="together")
    desk = open_desk()
    ticked = set()

    def two_have_ticked():
        ticked.update(worker for (worker,) in desk.query("SELECT worker FROM reconciler"))
        return len(ticked) >= 2

    wait_for(two_have_ticked)
    job_id = desk.submit(calls(60))
    with desk.watched(job_id):
        desk.until_running(job_id, 20)
        crew.process.kill()
        crew.process.start()
        bundle = desk.bundle(job_id, meanwhile=crew.tend)
    assert {row["state"] for row in bundle.rows} == {"succeeded"}
    attempts = desk.attempts(job_id)
    assert len(attempts) == 60 + sum(attempt.outcome == "lost" for attempt in attempts)
    asked = [(one["document_id"], one["attempt"]) for one in crew.calls()]
    assert len(asked) == len(set(asked))


def test_a_reconciler_that_was_stopped_with_the_lock_in_its_hand_holds_up_nobody(crew, open_desk):
    crew.work({"documents": {"held": [succeed(**until("end"))]}})
    desk = open_desk()
    job_id = desk.submit([call("held")])
    desk.until_running(job_id, 0)
    others = (crew.control, crew.alone)
    for other in others:
        other.kill()
    wait_for(lambda: desk.query("SELECT worker FROM reconciler") == [(desk.attempts(job_id)[0].worker,)])
    crew.process.pause()
    try:
        for other in others:
            other.start()
        unannounced = desk.store(calls(1)).job_id
        desk.until(unannounced, lambda job: job.state == "running")
        wait_for(lambda: len(desk.attempts(job_id)) == 2)  # whoever stands in takes its lease from it as well
        crew.give("end")
    finally:
        crew.process.resume()
    for each in (job_id, unannounced):
        desk.bundle(each)


def test_workers_whose_clocks_are_twenty_minutes_apart_change_no_lease_no_deadline_and_no_stamp(crew, open_desk):
    """Of the attempts one outlives its first lease, and one waits before it is tried again."""
    crowded = [{"do": "fail", "code": "provider_unavailable"}, succeed()]
    long = [succeed(seconds=1.5 * LEASE_SECONDS)]
    crew.work({"documents": {"crowded": crowded, "long": long}}, app="skewed")
    desk = open_desk()
    ((before,),) = desk.query("SELECT clock_timestamp()")
    job_id = desk.submit([call("crowded"), call("long"), *calls(6)], concurrency=3, deadline_seconds=300)
    bundle = desk.bundle(job_id)
    ((after,),) = desk.query("SELECT clock_timestamp()")
    assert {row["state"] for row in bundle.rows} == {"succeeded"}
    attempts = desk.attempts(job_id)
    assert sorted(attempt.outcome for attempt in attempts) == ["requeued", *["succeeded"] * 8]
    ((job,),) = [desk.query("SELECT * FROM jobs WHERE job_id = %s", job_id)]
    stamps = [job.created_at, job.admitted_at, job.ended_at, job.frozen_at]
    stamps += [at for attempt in attempts for at in (attempt.started_at, attempt.ended_at)]
    stamps += [at for (at,) in desk.query("SELECT at FROM events WHERE job_id = %s", job_id)]
    assert all(before <= at <= after for at in stamps)
