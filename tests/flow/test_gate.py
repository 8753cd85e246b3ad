"""A provider that is away, with real workers: nobody pays for it, and everything goes on when it is back."""

import json

from crew import SLOTS, wait_for
from scripted import calls, succeed, until

from pipeline.stages.resume import resume

#: Each of the first documents fails once, all at the same moment; then the provider is back.
AWAY = {
    "documents": {
        one.document_id: [{"do": "fail", "code": "provider_unavailable", **until("away")}, succeed()]
        for one in calls(SLOTS)
    }
}
#: The key is wrong for the first documents; whoever mends it says so.
KEY = {
    "documents": {
        one.document_id: [{"do": "fail", "code": "provider_auth", **until("wrong")}, succeed()] for one in calls(4)
    }
}


def test_a_breaker_that_an_outage_opened_closes_by_a_probe(crew, open_desk, broker):
    crew.work(AWAY, broker=broker)
    desk = open_desk()
    job_id = desk.submit(calls(SLOTS), concurrency=SLOTS)
    desk.until_running(job_id, *range(SLOTS))
    crew.give("away")
    bundle = desk.bundle(job_id)
    assert {(row["state"], row["attempt_count"]) for row in bundle.rows} == {("succeeded", 2)}
    first = [attempt for attempt in desk.attempts(job_id) if attempt.number == 1]
    assert {(attempt.outcome, attempt.error_code) for attempt in first} == {("requeued", "provider_unavailable")}
    assert sum(attempt.charged for attempt in first) == 4  # the fifth opened it, the rest were excused
    later = [attempt.started_at for attempt in desk.attempts(job_id) if attempt.number == 2]
    assert min(later) > max(attempt.ended_at for attempt in first)
    assert desk.query("SELECT opened_at, outages FROM gates") == [(None, 0)]


def test_with_a_wrong_key_nothing_starts_until_a_person_resumes(crew, open_desk):
    # With leases of a minute no probe comes before the person does.
    crew.work(KEY, env={"CALLFOLD_LEASE_SECONDS": "60"})
    desk = open_desk()
    job_id = desk.submit(calls(40), concurrency=4)
    desk.until_running(job_id, *range(4))
    crew.give("wrong")
    wait_for(lambda: desk.job(job_id).counts.running == 0)
    wait_for(lambda: "callfold resume scripted" in (desk.job(job_id).waiting_for or ""))
    assert len(desk.attempts(job_id)) == 4
    assert resume(desk.ledger, "scripted")
    bundle = desk.bundle(job_id)
    assert [(row["state"], row["attempt_count"]) for row in bundle.rows] == [("succeeded", 2)] * 4 + [
        ("succeeded", 1)
    ] * 36
    assert {item.charged for item in desk.items(job_id)} == {0}


def test_workers_together_keep_to_the_declared_rate(crew, open_desk):
    profile = {"scripted": {"summarizer": "scripted", "requests_per_minute": 600}}
    crew.work(env={"CALLFOLD_PROFILES": json.dumps(profile)})
    desk = open_desk()
    job_id = desk.submit(calls(60), concurrency=SLOTS)
    bundle = desk.bundle(job_id)
    assert {row["state"] for row in bundle.rows} == {"succeeded"}
    assert {item.charged for item in desk.items(job_id)} == {0}
    # 60 places, a tenth of a second each, none given out twice.
    [(began, due)] = desk.query("SELECT (SELECT min(started_at) FROM attempts), requests_due FROM gates")
    assert (due - began).total_seconds() >= 60 * 0.1
    assert len(crew.calls()) == 60
