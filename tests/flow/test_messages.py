"""The queue may lose, repeat and delay anything: messages are hints, the ledger decides."""

from uuid import uuid4

from crew import wait_for
from scripted import calls, succeed


def test_every_message_twice_changes_nothing(crew, open_desk, broker):
    crew.work({"default": [succeed(seconds=0.02)]}, broker=broker, app="doubling")
    desk = open_desk()
    job_id = desk.submit(calls(40))
    for _ in range(2):
        desk.send("admit", job_id)
    with desk.watched(job_id):
        bundle = desk.bundle(job_id)
    assert {(row["state"], row["attempt_count"]) for row in bundle.rows} == {("succeeded", 1)}
    assert len(crew.calls()) == 40


def test_messages_that_come_late_end_quietly(crew, open_desk):
    crew.work({"default": [succeed(seconds=0.3)]})
    desk = open_desk()
    job_id = desk.submit(calls(6), concurrency=2)
    wait_for(lambda: any(item.state == "running" for item in desk.items(job_id)))
    running = next(item for item in desk.items(job_id) if item.state == "running")
    desk.send("process", job_id, running.position, running.dispatch_id)  # once more
    desk.send("process", job_id, running.position, uuid4())  # of an older release
    desk.send("process", job_id, 5, uuid4())  # of a document that waits
    desk.send("process", job_id, 99, uuid4())  # of no document
    desk.send("reduce", job_id)  # too early
    bundle = desk.bundle(job_id)
    for task in ("admit", "reduce", "freeze"):
        desk.send(task, job_id)  # too late
    desk.send("process", job_id, running.position, running.dispatch_id)
    before = desk.job(job_id)
    job_after = desk.submit(calls(2, account="other"))
    desk.bundle(job_after)
    assert desk.job(job_id) == before
    assert {(row["state"], row["attempt_count"]) for row in bundle.rows} == {("succeeded", 1)}
    assert len(crew.calls()) == 6 + 2


def test_messages_for_a_job_that_nobody_knows_end_quietly(crew, open_desk):
    crew.work({"default": [succeed(seconds=0.3)]})
    desk = open_desk()
    logged = {log: log.stat().st_size for log in crew.logs}
    desk.send("process", uuid4(), 0, uuid4())
    for task in ("admit", "reduce", "freeze"):
        desk.send(task, uuid4())
    desk.bundle(desk.submit(calls(2)))
    for log, size in logged.items():
        assert b"[error" not in log.read_bytes()[size:]


def test_a_job_that_no_message_announced_is_found(crew, open_desk):
    crew.work({"default": [succeed(seconds=0.3)]})
    desk = open_desk()
    bundle = desk.bundle(desk.store(calls(3)).job_id)
    assert {row["state"] for row in bundle.rows} == {"succeeded"}
