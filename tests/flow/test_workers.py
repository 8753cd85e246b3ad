"""Workers end without losing anything: asked by SIGTERM, or by themselves when their slots hang."""

from crew import SLOTS, wait_for
from scripted import call, calls, succeed, until

from tasks import queues
from tasks.drain import HUNG_SLOTS

WAITS = {"default": [succeed(**until("go"))]}


def held_at(desk, job_id, number):
    """Wait until so many documents are running, and return their positions."""
    wait_for(lambda: len(running(desk, job_id)) == number)
    return running(desk, job_id)


def running(desk, job_id):
    return {item.position for item in desk.items(job_id) if item.state == "running"}


def check_handed_back(desk, job_id, queue):
    """Every released document has all of its messages in the queue: none is with a worker that has gone."""
    items = desk.items(job_id)
    assert {item.state for item in items} == {"succeeded", "released"}
    wait_for(lambda: desk.waiting(queue) == sum(item.publishes for item in desk.items(job_id) if item.lane is not None))


def check_first_attempts(crew, desk, job_id):
    bundle = desk.bundle(job_id, meanwhile=crew.tend)
    assert {(row["state"], row["attempt_count"]) for row in bundle.rows} == {("succeeded", 1)}
    assert {attempt.outcome for attempt in desk.attempts(job_id)} == {"succeeded"}


def test_sigterm_ends_what_threads_run_and_hands_the_rest_back(crew, open_desk, broker):
    crew.work(WAITS, broker=broker)
    desk = open_desk()
    desk.purge(queues.PROCESS)
    job_id = desk.submit(calls(SLOTS + 8), concurrency=SLOTS + 4)
    held = held_at(desk, job_id, SLOTS)
    with desk.heard() as heard:
        crew.process.ask_to_end()
        crew.process.ask_to_end()  # impatience changes nothing
        crew.give("go")
        assert crew.process.exit_code() == 0
        assert {item.position for item in desk.items(job_id) if item.state == "succeeded"} == held
        wait_for(lambda: {str(attempt.dispatch_id) for attempt in desk.attempts(job_id)} <= set(heard))
    check_handed_back(desk, job_id, queues.PROCESS)
    check_first_attempts(crew, desk, job_id)


def test_sigterm_ends_the_suspect_that_a_process_runs_and_hands_the_rest_back(crew, open_desk, broker):
    crew.work(WAITS, broker=broker)
    desk = open_desk()
    desk.purge(queues.ALONE)
    job_id = desk.store(calls(5)).job_id
    desk.suspect(job_id)
    desk.send("admit", job_id)
    held = held_at(desk, job_id, 1)
    crew.alone.ask_to_end()
    crew.alone.ask_to_end()
    crew.give("go")
    assert crew.alone.exit_code() == 0
    assert {item.position for item in desk.items(job_id) if item.state == "succeeded"} == held
    check_handed_back(desk, job_id, queues.ALONE)
    check_first_attempts(crew, desk, job_id)


def test_sigterm_ends_the_hop_that_a_process_runs(crew, open_desk, broker):
    crew.work(broker=broker)
    desk = open_desk()
    job_id = desk.store(calls(3)).job_id
    with desk.ledger.transaction() as tx:
        tx.exec_driver_sql("LOCK TABLE merged_actions IN SHARE ROW EXCLUSIVE MODE")
        desk.send("admit", job_id)
        wait_for(lambda: desk.waits_for_table("merged_actions"))
        crew.control.ask_to_end()
    assert crew.control.exit_code() == 0
    assert desk.job(job_id).state == "completed"
    check_first_attempts(crew, desk, job_id)


def test_sigterm_does_not_wait_long_for_postgresql(crew, open_desk):
    crew.work(WAITS)
    desk = open_desk()
    job_id = desk.submit(calls(3))
    held_at(desk, job_id, 3)
    with desk.without_postgresql():
        crew.give("go")
        crew.process.ask_to_end()
        assert crew.process.exit_code() == 0
    bundle = desk.bundle(job_id, meanwhile=crew.tend)
    assert {(row["state"], row["attempt_count"]) for row in bundle.rows} == {("succeeded", 2)}
    assert not any(attempt.charged for attempt in desk.attempts(job_id))


def test_a_worker_of_hung_threads_drains_and_the_next_one_finishes(crew, open_desk, broker):
    hanging = [call(f"hangs-{n}") for n in range(3)]
    script = {
        "default": [succeed(**until("go"))],
        "documents": {one.document_id: [{"do": "hang"}, succeed()] for one in hanging},
    }
    crew.work(script, broker=broker, env={"CALLFOLD_ATTEMPT_SECONDS": "8"})
    desk = open_desk()
    job_id = desk.submit(hanging)
    wait_for(lambda: "provider_timeout" in {attempt.error_code for attempt in desk.attempts(job_id)})
    healthy = desk.submit([call("healthy")], key="healthy")
    desk.until_running(healthy, 0)
    wait_for(lambda: "worker.drains" in crew.process.log.read_text())
    crew.give("go")
    assert crew.process.exit_code() == HUNG_SLOTS
    assert [attempt.outcome for attempt in desk.attempts(healthy)] == ["succeeded"]
    crew.process.start()
    check_first_attempts(crew, desk, healthy)
    bundle = desk.bundle(job_id)
    assert {(row["state"], row["attempt_count"]) for row in bundle.rows} == {("succeeded", 2)}


def test_sigterm_does_not_wait_for_a_hung_thread(crew, open_desk):
    crew.work({"documents": {"hangs": [{"do": "hang"}, succeed()]}}, env={"CALLFOLD_ATTEMPT_SECONDS": "2"})
    desk = open_desk()
    job_id = desk.submit([call("hangs"), call("fine")])
    wait_for(lambda: "provider_timeout" in {attempt.error_code for attempt in desk.attempts(job_id)})
    crew.process.ask_to_end()
    assert crew.process.exit_code() == 0
    crew.process.start()
    bundle = desk.bundle(job_id)
    assert [(row["state"], row["attempt_count"]) for row in bundle.rows] == [("succeeded", 2), ("succeeded", 1)]


def test_a_suspect_that_hangs_is_killed_and_the_next_one_has_its_slot(crew, open_desk):
    crew.work({"documents": {"hangs": [{"do": "hang"}]}}, env={"CALLFOLD_ATTEMPT_SECONDS": "2"})
    desk = open_desk()
    job_id = desk.store([call("hangs"), call("fine")]).job_id
    desk.suspect(job_id)
    desk.send("admit", job_id)
    bundle = desk.bundle(job_id, seconds=90)
    found = [(row["state"], row["error_code"]) for row in bundle.rows]
    assert found == [("failed", "provider_timeout"), ("succeeded", None)]
    assert crew.alone.is_running()


def test_a_document_that_kills_its_worker_fails_alone_and_its_neighbours_succeed(crew, open_desk):
    poison = {"do": "crash", **until("poisoned")}
    crew.work({**WAITS, "documents": {"poison": [poison]}})
    desk = open_desk()
    job_id = desk.submit([call("poison"), *calls(2 * SLOTS)], concurrency=SLOTS)
    neighbours = held_at(desk, job_id, SLOTS) - {0}
    crew.give("poisoned")
    wait_for(lambda: not crew.process.is_running())
    crew.give("go")
    bundle = desk.bundle(job_id, seconds=90, meanwhile=crew.tend)
    first, *others = [(row["state"], row["error_code"], row["attempt_count"]) for row in bundle.rows]
    assert first == ("failed", "worker_lost", 4)
    tries = {position: 2 if position in neighbours else 1 for position in range(1, 2 * SLOTS + 1)}
    assert others == [("succeeded", None, tries[position]) for position in sorted(tries)]
    alone = {(attempt.position, attempt.number) for attempt in desk.attempts(job_id) if attempt.alone}
    assert alone == {(0, 2), (0, 3), (0, 4), *((position, 2) for position in neighbours)}
