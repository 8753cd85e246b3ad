"""A broker may lose everything, a worker may leave: every row is there once, no action twice, no help.

Where a process is killed, and at which point, is the crash matrix; all of it at once is chaos.
"""

import os

import pytest
import redis
from crew import SLOTS, wait_for
from faults import broker_of
from scripted import call, follow_up, succeed

PROMISE = "I will send you the minutes of call {name} tomorrow."
MANY = [call(f"call-{n:03}", PROMISE.format(name=n), account=f"account-{n % 7}") for n in range(200)]
SCRIPT = {
    "documents": {
        document.document_id: [succeed(follow_up(f"Minutes {n}", PROMISE.format(name=n)), seconds=0.05)]
        for n, document in enumerate(MANY)
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


def test_a_warm_shutdown_in_a_run_of_200_loses_no_attempt(crew, open_desk):
    crew.work(SCRIPT)
    desk = open_desk()
    job_id = desk.submit(MANY)
    desk.until_settled(job_id, 60)
    crew.process.end()
    assert all(attempt.outcome == "succeeded" for attempt in desk.attempts(job_id))
    crew.process.start()
    assert check_the_many(crew, desk, job_id) == []


def test_a_broker_that_loses_its_messages_in_a_run_of_200_costs_no_attempt(crew, open_desk, servers, broker):
    crew.work(SCRIPT, broker=broker)
    desk = open_desk()
    faulty = broker_of(servers, broker)
    job_id = desk.submit(MANY, concurrency=5 * SLOTS)
    with desk.watched(job_id):
        desk.until_settled(job_id, 60)
        wait_for(faulty.waiting)
        faulty.lose_messages()
        assert check_the_many(crew, desk, job_id) == []
    assert desk.query("SELECT 1 FROM items WHERE job_id = %s AND publishes > 1", job_id), "no message was lost"


@pytest.mark.parametrize("fault", ["drop_connections", "restart"])
def test_a_broker_that_goes_away_in_a_run_of_200(crew, open_desk, servers, broker, fault):
    if broker and fault == "restart" and "AMQP_RESTART" not in os.environ:
        pytest.skip("AMQP_RESTART names no command that restarts RabbitMQ")
    crew.work(SCRIPT, broker=broker)
    desk = open_desk()
    job_id = desk.submit(MANY)
    with desk.watched(job_id):
        desk.until_settled(job_id, 60)
        getattr(broker_of(servers, broker), fault)()
        check_the_many(crew, desk, job_id)


def test_flushall_of_redis_between_two_jobs(crew, open_desk, servers):
    crew.work(SCRIPT)
    desk = open_desk()
    check_twelve(desk, desk.submit(MANY[:12]))
    redis.Redis.from_url(servers.urls.broker).flushall()
    check_twelve(desk, desk.submit(MANY[:12], key="again"))


def test_a_document_that_kills_its_worker_every_time_ends_as_worker_lost(crew, open_desk):
    crew.work({"documents": {"poison": [{"do": "crash"}]}})
    desk = open_desk()
    job_id = desk.submit([call("before"), call("poison"), call("after")], concurrency=1)
    bundle = desk.bundle(job_id, meanwhile=crew.tend)
    found = [(row["state"], row["error_code"], row["attempt_count"]) for row in bundle.rows]
    assert found == [("succeeded", None, 1), ("failed", "worker_lost", 4), ("succeeded", None, 1)]


def check_twelve(desk, job_id):
    bundle = desk.bundle(job_id)
    assert {(row["state"], row["attempt_count"]) for row in bundle.rows} == {("succeeded", 1)}
    assert len(bundle.actions) == 12
