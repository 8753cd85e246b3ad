"""Anything may be killed or flushed at any point: every row is there once, one export, no action twice, no help."""

import os
import signal

import pytest
import redis
from crew import SLOTS, wait_for
from scripted import call, follow_up, succeed, until

from tasks import queues

PROMISE = "I will send you the minutes of call {name} tomorrow."
MANY = [call(f"call-{n:03}", PROMISE.format(name=n), account=f"account-{n % 7}") for n in range(200)]
SCRIPT = {
    "documents": {
        document.document_id: [succeed(follow_up(f"Minutes {n}", PROMISE.format(name=n)), seconds=0.05)]
        for n, document in enumerate(MANY)
    }
}
#: At each of them the worker is killed; where the kill hits nothing, the job never ends.
HIT = (60, 140)
HELD = {
    "documents": {
        **SCRIPT["documents"],
        **{MANY[n].document_id: [succeed(**until("never")), *SCRIPT["documents"][MANY[n].document_id]] for n in HIT},
    }
}


def check_the_many(crew, desk, job_id):
    """200 rows and actions; a call of the summarizer is only ever repeated for an attempt that was lost.

    A worker that ends by itself is started again: Celery 5.7 does at times when its broker goes away.
    """
    bundle = desk.bundle(job_id, seconds=90, meanwhile=crew.tend)
    assert {row["state"] for row in bundle.rows} == {"succeeded"}
    assert sorted(action["text"] for action in bundle.actions) == sorted(f"Minutes {n}" for n in range(200))
    attempts = desk.attempts(job_id)
    asked = [(one["document_id"], one["attempt"]) for one in crew.calls()]
    assert len(asked) == len(set(asked))
    assert set(asked) <= {(f"call-{attempt.position:03}", attempt.number) for attempt in attempts}
    lost = [attempt for attempt in attempts if attempt.outcome != "succeeded"]
    assert len(attempts) == 200 + len(lost)
    return lost


def test_kill_9_of_the_process_worker_in_a_run_of_200(crew, open_desk, broker):
    crew.work(HELD, broker=broker)
    desk = open_desk()
    job_id = desk.submit(MANY)
    with desk.watched(job_id):
        for position in HIT:
            desk.until_running(job_id, position)
            crew.process.kill()
            crew.process.start()
        lost = check_the_many(crew, desk, job_id)
    assert {attempt.position for attempt in lost} >= set(HIT)
    assert len(lost) <= len(HIT) * SLOTS
    assert {attempt.outcome for attempt in lost} == {"lost"}


def test_a_warm_shutdown_in_a_run_of_200_loses_no_attempt(crew, open_desk):
    crew.work(SCRIPT)
    desk = open_desk()
    job_id = desk.submit(MANY)
    desk.until_settled(job_id, 60)
    crew.process.end()
    assert all(attempt.outcome == "succeeded" for attempt in desk.attempts(job_id))
    crew.process.start()
    assert check_the_many(crew, desk, job_id) == []


def test_flushall_of_redis_in_a_run_of_200(crew, open_desk, servers):
    crew.work(SCRIPT)
    desk = open_desk()
    broker = redis.Redis.from_url(servers.urls.broker)
    job_id = desk.submit(MANY, concurrency=5 * SLOTS)
    with desk.watched(job_id):
        desk.until_settled(job_id, 60)
        wait_for(lambda: broker.llen(queues.PROCESS.name))
        broker.flushall()
        assert check_the_many(crew, desk, job_id) == []
    assert desk.query("SELECT 1 FROM items WHERE job_id = %s AND publishes > 1", job_id), "no message was lost"


def test_flushall_of_redis_between_two_jobs(crew, open_desk, servers):
    crew.work(SCRIPT)
    desk = open_desk()
    check_twelve(desk, desk.submit(MANY[:12]))
    redis.Redis.from_url(servers.urls.broker).flushall()
    check_twelve(desk, desk.submit(MANY[:12], key="again"))


@pytest.mark.parametrize("server", ["postgres", "redis"])
def test_kill_9_of_a_server_in_a_run_of_200(crew, open_desk, servers, server):
    crew.work(SCRIPT)
    desk = open_desk()
    job_id = desk.submit(MANY)
    desk.until_settled(job_id, 60)
    killed = next(part for part in servers.status() if part.name == server)
    os.kill(killed.pid, signal.SIGKILL)
    wait_for(lambda: any(part.restarts > killed.restarts and part.running for part in servers.status()))
    wait_for(desk.answers)
    check_the_many(crew, desk, job_id)


def test_a_document_that_kills_its_worker_every_time_ends_as_worker_lost(crew, open_desk):
    crew.work({"documents": {"poison": [{"do": "crash"}]}})
    desk = open_desk()
    job_id = desk.submit([call("before"), call("poison"), call("after")], concurrency=1)
    bundle = desk.bundle(job_id, meanwhile=crew.tend)
    found = [(row["state"], row["error_code"], row["attempt_count"]) for row in bundle.rows]
    assert found == [("succeeded", None, 1), ("failed", "worker_lost", 4), ("succeeded", None, 1)]


#: Each hop, the state in which it finds a job, and a lock that stops it before it writes, and nothing else.
HOPS = {
    "admit": ("accepted", "SELECT 1 FROM jobs FOR NO KEY UPDATE"),
    "reduce": ("running", "LOCK TABLE merged_actions IN SHARE ROW EXCLUSIVE MODE"),
    "freeze": ("completed", "LOCK TABLE exports IN SHARE ROW EXCLUSIVE MODE"),
}


@pytest.mark.parametrize("hop", HOPS)
def test_kill_9_of_the_control_worker_in_a_hop(crew, open_desk, hop):
    crew.work(SCRIPT)
    desk = open_desk()
    job_id = desk.store(MANY[:12]).job_id
    state, lock = HOPS[hop]
    with desk.ledger.transaction() as tx:
        tx.exec_driver_sql(lock)
        desk.send("admit", job_id)
        wait_for(lambda: desk.job(job_id).state == state and waits_for_a_lock(desk))
        crew.control.kill()
    assert desk.job(job_id).state == state
    crew.control.start()
    check_twelve(desk, job_id)


def test_kill_9_of_the_control_worker_between_its_commit_and_its_messages(crew, open_desk, servers):
    crew.work(SCRIPT)
    desk = open_desk()
    job_id = desk.store(MANY[:12]).job_id
    broker = redis.Redis.from_url(servers.urls.broker)
    with desk.ledger.transaction() as tx:
        tx.exec_driver_sql(HOPS["admit"][1])
        desk.send("admit", job_id)
        wait_for(lambda: waits_for_a_lock(desk))
        broker.client_pause(30_000, all=False)
    desk.until(job_id, lambda job: job.state == "running")
    crew.control.kill()
    broker.client_unpause()
    crew.control.start()
    check_twelve(desk, job_id)


def check_twelve(desk, job_id):
    bundle = desk.bundle(job_id)
    assert {(row["state"], row["attempt_count"]) for row in bundle.rows} == {("succeeded", 1)}
    assert len(bundle.actions) == 12


def waits_for_a_lock(desk):
    return desk.query("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND state = 'active'")
