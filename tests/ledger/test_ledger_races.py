"""Two things at the same moment, on real connections: whatever the order, the ledger is right afterwards."""

from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from threading import Event
from uuid import uuid4

import pytest
from ledger_bench import work_off
from ledger_rows import check, item, new_job, rows, snapshot, submitted, value, wait_for_waiters

from pipeline.domain.results import Summary
from pipeline.errors import ItemFailure
from pipeline.ledger import items, jobs, reduction
from pipeline.ledger.releases import Released
from pipeline.stages import reduce as reduce_stage
from pipeline.stages.admit import admit
from pipeline.stages.cancel import cancel, drain
from pipeline.stages.commands import Freeze, Reduce
from pipeline.stages.process import Processed, process
from pipeline.stages.reconcile import reconcile
from pipeline.stages.reduce import reduce

ROUNDS = 12
LEASE = 60.0


@pytest.fixture
def at_the_lock(ledger):
    """Lets the actions queue for a job's lock, one after the other, before any gets it; returns their results."""

    def run(job_id, *actions):
        with ThreadPoolExecutor(len(actions)) as pool:
            with ledger.transaction() as tx:
                jobs.lock(tx, job_id)
                queued = []
                for action in actions:
                    queued.append(pool.submit(action))
                    wait_for_waiters(ledger, len(queued))
            return [one.result(30) for one in queued]

    return run


def test_a_start_and_a_cancel_leave_the_document_running_or_skipped(ledger, together):
    for _ in range(ROUNDS):
        job_id = new_job(ledger, ["released", "fresh"])
        released = released_of(ledger, job_id)
        started, _commands = together(lambda r=released: start(ledger, r), lambda j=job_id: cancel(ledger, j))
        state = item(ledger, job_id).state
        assert state == ("running" if started else "skipped")
        assert item(ledger, job_id, 1).state == "skipped"
        check(ledger, job_id)


def test_of_many_starts_of_one_dispatch_one_wins(ledger, together):
    for _ in range(ROUNDS):
        job_id = new_job(ledger, ["released"])
        released = released_of(ledger, job_id)
        started = together(*[lambda r=released: start(ledger, r)] * 4)
        assert sum(one is not None for one in started) == 1
        assert value(ledger, "SELECT count(*) FROM attempts WHERE job_id = %s", job_id) == 1
        check(ledger, job_id)


def test_a_result_counts_whether_its_lease_is_lost_before_or_after(ledger, bench, together):
    for _ in range(ROUNDS):
        job_id = new_job(ledger, ["released"])
        answer = Paused(lambda j=job_id: run_out(ledger, j))
        worker = bench(summarizer=answer)
        pool = ThreadPoolExecutor(1)
        working = pool.submit(process, worker, released_of(ledger, job_id))
        assert answer.asked.wait(10)
        together(answer.go.set, lambda: reconcile(ledger, LEASE, "w"))
        working.result(30)
        pool.shutdown()
        assert item(ledger, job_id).state == "succeeded"
        assert rows(ledger, "SELECT outcome FROM attempts WHERE job_id = %s", job_id) == [("succeeded",)]
        check(ledger, job_id)


@pytest.mark.parametrize("restarted", [False, True], ids=["before a later start", "after a later start"])
def test_the_result_of_a_lost_attempt_counts_until_a_later_one_starts(ledger, bench, restarted):
    job_id = new_job(ledger, ["released"])

    def meanwhile():
        run_out(ledger, job_id)
        (command,) = reconcile(ledger, LEASE, "w")
        if restarted:
            assert start(ledger, command.released) is not None

    done = process(bench(summarizer=Late(meanwhile)), released_of(ledger, job_id))
    outcomes = rows(ledger, "SELECT outcome, summary FROM attempts ORDER BY number")
    if restarted:
        assert outcomes == [("late", "late"), (None, None)]
        assert (item(ledger, job_id).state, item(ledger, job_id).attempt_count) == ("running", 2)
        assert not done.settled
        assert not done.commands
    else:
        assert outcomes == [("succeeded", "late")]
        assert item(ledger, job_id).state == "succeeded"
        assert done.commands == (Reduce(job_id),)
    check(ledger, job_id)


def test_a_stale_settle_after_a_takeover_moves_nothing(ledger, bench):
    job_id = new_job(ledger, ["released", "fresh", "fresh"], concurrency=2)
    before = []

    def meanwhile():
        run_out(ledger, job_id)
        again = next(one.released for one in reconcile(ledger, LEASE, "w") if one.released.position == 0)
        assert start(ledger, again) is not None
        before.extend(snapshot(ledger, job_id)[0])

    done = process(bench(summarizer=Late(meanwhile)), released_of(ledger, job_id))
    assert done == Processed(settled=False)
    job, its_items, its_attempts, its_events = snapshot(ledger, job_id)[0]
    assert (job, its_items, its_events) == (before[0], before[1], before[3])
    changed = [now for now in its_attempts if now not in before[2]]
    assert [(one["number"], one["outcome"], one["summary"]) for one in changed] == [(1, "late", "late")]
    check(ledger, job_id)


#: Every order in which the transactions of a cancel, its sweep and a requeue can be committed.
ORDERS = {
    "requeue, cancel, sweep": ([], ["cancel", "sweep"]),
    "cancel, requeue, sweep": (["cancel"], ["sweep"]),
    "cancel, sweep, requeue": (["cancel", "sweep"], []),
}


@pytest.mark.parametrize("order", ORDERS)
def test_in_no_order_do_a_cancels_sweep_and_a_requeue_leave_anything_pending(ledger, bench, order):
    job_id = new_job(ledger, ["released", "fresh", "waiting", "released"], concurrency=4)
    steps = {"cancel": lambda: mark_cancelled(ledger, job_id), "sweep": lambda: drain(ledger, job_id)}
    before, after = ORDERS[order]
    commands = []

    def meanwhile():
        commands.extend(command for step in before for command in steps[step]() or ())
        raise ItemFailure("provider_unavailable", "our own sentence")

    done = process(bench(summarizer=Late(meanwhile)), released_of(ledger, job_id))
    commands += [*done.commands, *(command for step in after for command in steps[step]() or ())]
    assert done.next is None or after
    found = [(item(ledger, job_id, position).state, item(ledger, job_id, position).error_code) for position in range(4)]
    assert found == [("skipped", "cancelled")] * 4
    assert commands == [Freeze(job_id)]
    check(ledger, job_id)


@pytest.mark.parametrize("first", ["requeue", "cancel"])
def test_a_requeue_and_a_cancel_that_wait_for_the_same_lock_leave_nothing_pending(ledger, bench, at_the_lock, first):
    job_id = new_job(ledger, ["released", "fresh"])
    worker, released = bench("provider_unavailable"), released_of(ledger, job_id)
    actions = [lambda: process(worker, released).commands, lambda: cancel(ledger, job_id)]
    commands = at_the_lock(job_id, *actions if first == "requeue" else reversed(actions))
    assert {item(ledger, job_id, position).state for position in (0, 1)} == {"skipped"}
    assert set(chain(*commands)) == {Freeze(job_id)}
    check(ledger, job_id)


def test_a_requeue_and_a_cancel_leave_nothing_pending(ledger, bench, together):
    for _ in range(ROUNDS):
        job_id = new_job(ledger, ["released", "fresh"])
        worker, released = bench("provider_unavailable"), released_of(ledger, job_id)
        done, drained = together(lambda w=worker, r=released: process(w, r), lambda j=job_id: cancel(ledger, j))
        assert {item(ledger, job_id, position).state for position in (0, 1)} == {"skipped"}
        # Whoever ended the last document asks for the export.
        assert Freeze(job_id) in (*done.commands, *drained)
        check(ledger, job_id)


def test_two_ticks_at_once_never_release_more_than_the_jobs_lanes(ledger, together):
    for _ in range(ROUNDS):
        job_id = new_job(ledger, ["fresh"] * 20, concurrency=3)
        ticks = together(*[lambda: reconcile(ledger, LEASE, "w")] * 2)
        positions = [
            command.released.position for tick in ticks for command in tick if command.released.job_id == job_id
        ]
        assert sorted(positions) == [0, 1, 2]
        check(ledger, job_id)


def test_ten_reducers_at_once_make_one_merged_set(ledger, settings, bench, together):
    for _ in range(3):
        job_id = submitted(ledger, settings, 3)
        for released in admit(ledger, job_id).released:
            process(bench(), released)
        commands = together(*[lambda j=job_id: reduce(ledger, j)] * 10)
        assert sum(len(each) for each in commands) == 1
        kinds = [row[0] for row in rows(ledger, "SELECT kind FROM events WHERE job_id = %s", job_id)]
        assert kinds.count("completed") == 1
        merged = rows(ledger, "SELECT reduce_id, count(*) FROM merged_actions WHERE job_id = %s GROUP BY 1", job_id)
        assert merged == rows(ledger, "SELECT reduce_id, merged_rows::bigint FROM jobs WHERE job_id = %s", job_id)
        check(ledger, job_id)


def test_nine_reducers_return_while_the_tenth_still_merges(ledger, settings, bench, together):
    job_id = submitted(ledger, settings, 2)
    for released in admit(ledger, job_id).released:
        process(bench(), released)
    with ThreadPoolExecutor(1) as pool:
        with ledger.transaction() as tx:
            tx.exec_driver_sql("LOCK TABLE merged_actions IN SHARE ROW EXCLUSIVE MODE")
            merging = pool.submit(reduce, ledger, job_id)
            wait_for_waiters(ledger, 1)
            assert together(*[lambda: reduce(ledger, job_id)] * 9) == [()] * 9
        assert merging.result(30) == (Freeze(job_id),)
    assert value(ledger, "SELECT state FROM jobs WHERE job_id = %s", job_id) == "completed"


def test_an_interrupted_reducers_rows_are_replaced(ledger, settings, bench, monkeypatch):
    job_id = submitted(ledger, settings, 1)
    work_off(bench(), admit(ledger, job_id).released[0])
    with monkeypatch.context() as patch:
        patch.setattr("pipeline.ledger.jobs.complete", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            reduce(ledger, job_id)
    assert value(ledger, "SELECT count(*) FROM merged_actions") == 1
    reduce(ledger, job_id)
    assert rows(ledger, "SELECT count(*), count(DISTINCT reduce_id) FROM merged_actions") == [(1, 1)]
    assert rows(ledger, "SELECT count(*), count(DISTINCT reduce_id) FROM row_actions") == [(1, 1)]
    assert value(ledger, "SELECT reduce_id = (SELECT reduce_id FROM jobs) FROM merged_actions")


def test_eight_lanes_that_settle_while_others_admit_and_reconcile_never_deadlock(ledger, settings, bench, together):
    job_id = submitted(ledger, settings, 200)
    lanes = admit(ledger, job_id).released
    assert len(lanes) == 8
    worker, over = bench(), Event()

    def lane(released):
        done = work_off(worker, released)
        return len(done)

    def bystander():
        while not over.wait(0.01):
            admit(ledger, job_id)
            reconcile(ledger, LEASE, "w")
            check_in_one_look(ledger, job_id)

    def all_lanes():
        try:
            with ThreadPoolExecutor(8) as pool:
                return sum(pool.map(lane, lanes))
        finally:
            over.set()

    worked, *_ = together(all_lanes, bystander, bystander)
    # A bystander's tick may have taken a lane's next document: then it is released and nobody's here.
    left = [Released(*row) for row in rows(ledger, "SELECT job_id, position, dispatch_id FROM items WHERE lane >= 0")]
    worked += sum(len(work_off(worker, one)) for one in left)
    assert worked == 200
    assert value(ledger, "SELECT succeeded FROM jobs WHERE job_id = %s", job_id) == 200
    assert value(ledger, "SELECT max(attempt_count) FROM items") == 1
    check(ledger, job_id)


def test_while_the_gate_is_paused_a_message_gives_its_lane_back(ledger, settings, bench):
    job_id = submitted(ledger, settings, 2, concurrency=2)
    first, second = admit(ledger, job_id).released
    worker = bench("rate_limited")
    assert process(worker, first).settled
    assert not process(worker, second).settled
    for position in (0, 1):
        assert item(ledger, job_id, position).state == "pending"
        assert item(ledger, job_id, position).available_at is not None
    assert item(ledger, job_id, second.position).attempt_count == 0
    check(ledger, job_id)


class Late:
    """A summarizer during whose work something happens."""

    name = "late"

    def __init__(self, meanwhile):
        self._meanwhile = meanwhile

    def summarize(self, _request, _attempt):
        self._meanwhile()
        return Summary(summary="late")


class Paused:
    """A summarizer that first does something, then waits until it is told to go on."""

    name = "paused"

    def __init__(self, first):
        self.asked, self.go, self._first = Event(), Event(), first

    def summarize(self, _request, _attempt):
        self._first()
        self.asked.set()
        if not self.go.wait(10):
            raise ItemFailure("provider_timeout", "nobody let it go on")
        return Summary(summary="An offer.")


def check_in_one_look(ledger, job_id):
    """The counts are exact in every snapshot that anybody may see."""
    found = rows(
        ledger,
        "SELECT version, pending + running = (SELECT count(*) FROM items WHERE job_id = jobs.job_id "
        "AND finished_at IS NULL), version = (SELECT max(version) FROM events WHERE job_id = jobs.job_id), "
        "(SELECT count(*) FROM items WHERE job_id = jobs.job_id AND lane IS NOT NULL) <= concurrency "
        "FROM jobs WHERE job_id = %s",
        job_id,
    )
    assert tuple(found[0][1:]) == (True, True, True)


def start(ledger, released):
    with ledger.statement() as tx:
        return items.start(tx, released, attempt_id=uuid4(), worker="w", lease=LEASE, attempt_seconds=600.0)


def mark_cancelled(ledger, job_id):
    with ledger.transaction() as tx:
        jobs.cancel(tx, jobs.lock(tx, job_id))


def run_out(ledger, job_id):
    with ledger.transaction() as tx:
        tx.exec_driver_sql(
            "UPDATE items SET lease_until = clock_timestamp() - interval '1 second' "
            "WHERE job_id = %s AND state = 'running'",
            (job_id,),
        )


def released_of(ledger, job_id):
    return Released(
        job_id, 0, value(ledger, "SELECT dispatch_id FROM items WHERE job_id = %s AND position = 0", job_id)
    )


def test_a_reducer_that_saw_the_job_run_takes_nothing_from_one_that_completed_it_meanwhile(ledger, settings, bench):
    """The other had lost its lock with its connection, and did not know."""
    job_id = submitted(ledger, settings, 1)
    work_off(bench(), admit(ledger, job_id).released[0])
    with ledger.statement() as tx:
        seen = reduction.reducible_job(tx, job_id)
    assert reduce(ledger, job_id) == (Freeze(job_id),)
    assert reduce_stage._merge_groups(ledger, seen) == ()
    assert value(ledger, "SELECT count(*) FROM merged_actions") == value(ledger, "SELECT merged_rows FROM jobs") == 1
