"""Every arrow over every starting state: it moves an item exactly as the rules say, or it changes nothing."""

from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product
from uuid import uuid4

import pytest
from ledger_rows import KINDS, OPEN_KINDS, check, checkpoint, insert, item, new_job, rows, snapshot, value

from pipeline.domain import lifecycle
from pipeline.domain.lifecycle import (
    Cancel,
    Expire,
    Fail,
    FailByOperator,
    Hold,
    Item,
    Lose,
    Progress,
    Release,
    Start,
    Succeed,
    apply,
)
from pipeline.errors import StaleArrow
from pipeline.ledger import checkpoints, items, jobs, leases, releases, sweeps
from pipeline.ledger.items import Held, Outcome
from pipeline.ledger.releases import Released

UNTIL = datetime(2099, 1, 1, tzinfo=UTC)
RESULT = Outcome("succeeded", result_hash="hash-1", summary="said", actions="[]", warnings="[]")

#: Where a job can be: its columns.
JOBS = {
    "running": {},
    "cancelled": {"state": "cancelled"},
    "past its deadline": {"expires_in": -60.0},
}

SETTLES = {
    "succeed": (Succeed(1, "ref", "hash-1"), RESULT),
    "fail, retryable": (Fail(1, "provider_unavailable", retryable=True, wait=timedelta(seconds=2)), "requeued"),
    "fail, not charged": (Fail(1, "rate_limited", retryable=True, charged=False), "requeued"),
    "fail": (Fail(1, "not_a_call", retryable=False), "failed"),
    "skip": (Fail(1, "budget_exhausted", retryable=False, skips=True), "skipped"),
}


@pytest.fixture
def tx(ledger):
    """One transaction for all: each try is rolled back to its savepoint."""
    with ledger.transaction() as opened:
        yield opened


@pytest.fixture
def each_job(tx):
    """Makes one job for every kind of item in every state of a job: (kind, job_id), each undone after its turn."""

    def make(**columns):
        for kind, state in product(KINDS, JOBS):
            job_id = new_job(tx, [kind], **JOBS[state], **columns)
            with undone(tx):
                yield f"{kind}, job {state}", job_id

    return make


def test_release_takes_pending_items_of_running_jobs_and_no_others(tx, each_job):
    for case, job_id in each_job():
        before, all_before = item(tx, job_id), snapshot(tx, job_id)
        job = jobs.lock(tx, job_id)
        released = releases.release(tx, job, [3], [uuid4()])
        releases.announce(tx, job, released)
        expected = apply(before, Release(), job.now)
        if expected.changed and expected.item.state == "released":
            assert item(tx, job_id) == expected.item, case
            assert rows(tx, "SELECT lane, publishes FROM items WHERE job_id = %s", job_id) == [(3, 1)]
        else:
            assert released == []
            assert snapshot(tx, job_id) == all_before, case
        check(tx, job_id)


def test_nothing_is_released_or_started_while_the_gate_is_paused(tx):
    insert(tx, "gates", {"profile": "paused", "paused_until": UNTIL, "error_code": "rate_limited"})
    for kind in OPEN_KINDS:
        job_id = new_job(tx, [kind], profile="paused")
        before = snapshot(tx, job_id)
        assert releases.release(tx, jobs.lock(tx, job_id), [3], [uuid4()]) == []
        assert start(tx, job_id, dispatch_of(tx, job_id)) is None
        assert snapshot(tx, job_id) == before


@pytest.mark.parametrize("right", [True, False], ids=["own dispatch", "other dispatch"])
def test_start_claims_the_released_item_for_its_own_dispatch_only(tx, each_job, right):
    for case, job_id in each_job():
        before, all_before = item(tx, job_id), snapshot(tx, job_id)
        dispatch_id = dispatch_of(tx, job_id) if right else uuid4()
        started = start(tx, job_id, dispatch_id)
        expected = apply(before, Start("w"), datetime.now(UTC))
        if right and expected.changed and expected.item.state == "running":
            assert item(tx, job_id) == expected.item, case
            assert (started.number, started.charged) == (before.attempt_count + 1, before.charged)
        else:
            assert started is None
            assert snapshot(tx, job_id) == all_before, case
            assert refused(tx, job_id, dispatch_id) != "paused"
        check(tx, job_id)


@pytest.mark.parametrize("right", [True, False], ids=["own dispatch", "other dispatch"])
def test_hold_gives_the_lane_of_a_released_item_back(tx, each_job, right):
    for case, job_id in each_job():
        before = item(tx, job_id)
        released = Released(job_id, 0, dispatch_of(tx, job_id) if right else uuid4())
        allowed = right and before.state == "released" and before.expires_at > datetime.now(UTC)

        def hold(job, released=released):
            items.hold(tx, job, released, UNTIL)

        expect(tx, job_id, hold, Hold(UNTIL) if allowed else None, case)


@pytest.mark.parametrize("event", SETTLES)
def test_settle_counts_for_the_last_attempt_while_it_runs_or_is_only_suspected(tx, each_job, event):
    for case, job_id in each_job():
        settle_one(tx, job_id, *SETTLES[event], case, right=True)


def test_settle_is_refused_to_any_other_attempt(tx, each_job):
    for case, job_id in each_job():
        settle_one(tx, job_id, *SETTLES["succeed"], case, right=False)


@pytest.mark.parametrize("event", ["fail, retryable", "fail, not charged"])
def test_the_last_charged_attempt_is_not_repeated(tx, each_job, event):
    for case, job_id in each_job(max_attempts=1):
        settle_one(tx, job_id, *SETTLES[event], case, right=True)


@pytest.mark.parametrize(("lease", "max_attempts"), [(-1.0, 3), (-1.0, 1), (60.0, 3)])
def test_lose_takes_running_items_whose_lease_has_run_out(tx, each_job, max_attempts, lease):
    for case, job_id in each_job(lease=lease, max_attempts=max_attempts):
        before = item(tx, job_id)
        allowed = before.state == "running" and lease < 0
        lose = settling(tx, job_id, Lose(1), Outcome("lost", "worker_lost", "gone"), right=True)
        expect(tx, job_id, lose, Lose(1) if allowed else None, case)


def test_a_cancelled_jobs_sweep_skips_what_has_not_started(tx, each_job):
    for case, job_id in each_job():
        if value(tx, "SELECT state FROM jobs WHERE job_id = %s", job_id) != "cancelled":
            continue
        before, job = item(tx, job_id), jobs.lock(tx, job_id)
        swept = sweeps.cancelled(tx, job)
        # It stamps its own moment: the deadline has a sweep of its own.
        expected = apply(replace(before, expires_at=UNTIL), Cancel(), job.now)
        assert swept == expected.changed
        assert item(tx, job_id) == replace(expected.item, expires_at=before.expires_at), case
        check(tx, job_id)


def test_the_deadlines_sweep_fails_every_open_item_at_the_deadline_itself(tx, each_job):
    for case, job_id in each_job():
        before, job = item(tx, job_id), jobs.lock(tx, job_id)
        swept = sweeps.expired(tx, job)
        expected = apply(before, Expire(), job.now)
        assert swept == expected.changed
        assert item(tx, job_id) == expected.item, case
        assert not swept or expected.item.finished_at == job.expires_at
        check(tx, job_id)


def test_a_person_fails_any_open_item_and_its_neighbour_stays(tx):
    for kind, state in product(KINDS, JOBS):
        job_id = new_job(tx, [kind, "fresh"], **JOBS[state])
        before, neighbour, job = item(tx, job_id), item(tx, job_id, 1), jobs.lock(tx, job_id)
        swept = sweeps.failed_by_operator(tx, job, 0)
        expected = apply(replace(before, expires_at=UNTIL), FailByOperator(), job.now)
        assert swept == expected.changed
        assert item(tx, job_id) == replace(expected.item, expires_at=before.expires_at), kind
        assert item(tx, job_id, 1) == neighbour
        check(tx, job_id)


PROGRESS = [Progress(1, 0, 0), Progress(1, 40, 2), Progress(1, 39, 3), Progress(1, 41, 1), Progress(1, 40, 1)]


@pytest.mark.parametrize("right", [True, False], ids=["own attempt", "other attempt"])
@pytest.mark.parametrize("event", PROGRESS, ids=lambda event: f"{event.progress}-{event.cursor}")
def test_a_checkpoint_moves_progress_on_in_the_hands_of_the_attempt_that_runs(tx, each_job, event, right):
    for case, job_id in each_job():
        if item(tx, job_id).state == "running":
            tx.exec_driver_sql("UPDATE items SET progress = 40, cursor = 1 WHERE job_id = %s", (job_id,))
        before, row = item(tx, job_id), checkpoint(held(tx, job_id, right=right), event.progress, event.cursor)
        now = datetime.now(UTC)
        expected = apply(before, event, now)
        moves = right and expected.reason == "progress"
        # One whose lease was lost works on: what it writes is kept, and moves nothing.
        keeps = moves or (right and before.suspect and now < before.expires_at)
        assert checkpoints.keep(tx, [row]) == ({(job_id, 0)} if keeps else set()), case
        assert item(tx, job_id) == (expected.item if moves else before), case
        assert checkpoints.of_item(tx, job_id, 0) == ([row.checkpoint] if keeps else []), case
        check(tx, job_id)


@pytest.mark.parametrize("event", SETTLES)
def test_a_final_item_has_no_checkpoints_and_another_keeps_them(tx, event):
    moved, outcome = SETTLES[event]
    outcome = outcome if isinstance(outcome, Outcome) else Outcome(outcome, moved.code, "our own sentence")
    job_id = new_job(tx, ["running", "running"])
    mine, other = held(tx, job_id, right=True), held(tx, job_id, right=True, position=1)
    assert len(checkpoints.keep(tx, [checkpoint(mine, 40, 1), checkpoint(other, 40, 1)])) == 2
    settling(tx, job_id, moved, outcome, right=True)(jobs.lock(tx, job_id))
    # What the budget ended goes on in a successor.
    goes_on = item(tx, job_id).state == "pending" or outcome.error_code == "budget_exhausted"
    assert len(checkpoints.of_item(tx, job_id, 0)) == goes_on
    assert len(checkpoints.of_item(tx, job_id, 1)) == 1


def test_a_sweep_forgets_the_checkpoints_of_what_it_ends(tx):
    for sweep in (sweeps.expired, lambda tx, job: sweeps.failed_by_operator(tx, job, 0)):
        job_id = new_job(tx, ["running", "fresh"])
        checkpoints.keep(tx, [checkpoint(held(tx, job_id, right=True), 40, 1)])
        tx.exec_driver_sql("UPDATE jobs SET expires_at = now() WHERE job_id = %s", (job_id,))
        assert sweep(tx, jobs.lock(tx, job_id)) > 0
        assert checkpoints.of_item(tx, job_id, 0) == []


def test_an_edit_changes_lanes_and_deadline_of_an_unfinished_job_and_says_so(tx):
    for state in lifecycle.JOB_STATES:
        job_id = new_job(tx, ["born failed"], state=state)
        before, job = snapshot(tx, job_id), jobs.lock(tx, job_id)
        if state in {"accepted", "running"}:
            jobs.edit(tx, job, 2, UNTIL, "{}")
            edited = jobs.lock(tx, job_id)
            assert (edited.concurrency, edited.expires_at, edited.state) == (2, UNTIL, state)
            assert rows(tx, "SELECT version, kind, detail FROM events WHERE job_id = %s AND version > 1", job_id) == [
                (2, "edited", "{}")
            ]
        else:
            with pytest.raises(StaleArrow, match=state):
                jobs.edit(tx, job, 2, UNTIL, "{}")
            assert snapshot(tx, job_id) == before
        check(tx, job_id)


def test_a_job_past_its_deadline_is_not_edited_back_to_life(tx):
    job_id = new_job(tx, ["fresh"], expires_in=-1.0)
    with pytest.raises(StaleArrow, match="past its deadline"):
        jobs.edit(tx, jobs.lock(tx, job_id), 8, UNTIL, "{}")


def test_a_sweep_takes_as_many_as_it_may_in_order_of_position(tx):
    job_id = new_job(tx, ["fresh", "released", "running", "fresh", "fresh"], state="cancelled")
    for swept, left in ((2, {2, 3, 4}), (2, {2}), (0, {2})):
        assert sweeps.cancelled(tx, jobs.lock(tx, job_id), limit=2) == swept
        found = rows(tx, "SELECT position FROM items WHERE job_id = %s AND finished_at IS NULL", job_id)
        assert {row.position for row in found} == left
        check(tx, job_id)


def test_a_late_result_and_a_renewal_never_move_an_item(tx, each_job):
    for case, job_id in each_job():
        kind = case.partition(", job")[0]
        before, attempt_id = item(tx, job_id), held(tx, job_id, right=True).attempt_id
        kept = items.keep_late(tx, attempt_id, RESULT)
        assert kept == (KINDS[kind].get("attempt", "never tried") in {None, "lost"}), case
        assert leases.renew(tx, [attempt_id], 30.0) == kind.startswith("running")
        assert item(tx, job_id) == before
        check(tx, job_id)


def test_a_lease_is_never_renewed_past_the_attempts_deadline(tx):
    job_id = new_job(tx, ["running"])
    assert leases.renew(tx, [held(tx, job_id, right=True).attempt_id], 10_000.0) == 1
    assert value(tx, "SELECT lease_until = attempt_until FROM items WHERE job_id = %s", job_id)


def test_a_release_takes_retries_that_are_due_and_then_the_next_positions(tx):
    job_id = new_job(tx, ["succeeded", "waiting", "fresh", "fresh", "suspect"], concurrency=8)
    job = jobs.lock(tx, job_id)
    released = releases.release(tx, job, releases.free_lanes(tx, job, 3), [uuid4() for _ in range(3)])
    releases.announce(tx, job, released)
    assert {one.position for one in released} == {1, 2, 4}
    assert value(tx, "SELECT next_position FROM jobs WHERE job_id = %s", job_id) == 3
    check(tx, job_id)


JOB_ARROWS = {
    "admit": ({"accepted"}, "running"),
    "cancel": ({"accepted", "running"}, "cancelled"),
    "complete": ({"running"}, "completed"),
}


@pytest.mark.parametrize("arrow", JOB_ARROWS)
def test_a_jobs_arrows_leave_from_their_states_only(tx, arrow):
    sources, target = JOB_ARROWS[arrow]
    arguments = (uuid4(), 0, 0) if arrow == "complete" else ()
    for state in lifecycle.JOB_STATES:
        job_id = new_job(tx, ["born failed"], state=state)
        before, job = snapshot(tx, job_id), jobs.lock(tx, job_id)
        if state in sources:
            getattr(jobs, arrow)(tx, job, *arguments)
            assert value(tx, "SELECT state FROM jobs WHERE job_id = %s", job_id) == target
        else:
            with pytest.raises(StaleArrow):
                getattr(jobs, arrow)(tx, job, *arguments)
            assert snapshot(tx, job_id) == before
        check(tx, job_id)


def test_a_job_with_an_open_item_is_not_completed(tx):
    for kind in OPEN_KINDS:
        job_id = new_job(tx, ["succeeded", kind])
        with pytest.raises(StaleArrow, match="1 open"):
            jobs.complete(tx, jobs.lock(tx, job_id), uuid4(), 0, 0)


def settle_one(tx, job_id, event, outcome, case, *, right):
    before = item(tx, job_id)
    if not isinstance(outcome, Outcome):
        outcome = Outcome(outcome, event.code, "our own sentence")
    allowed = right and (before.state == "running" or before.suspect)
    expect(tx, job_id, settling(tx, job_id, event, outcome, right=right), event if allowed else None, case)


def settling(tx, job_id, event, outcome, *, right):
    """Settle as a worker does, which holds the item as it was when its attempt began."""
    before, one = item(tx, job_id), held(tx, job_id, right=right)
    begun = Item("running", before.expires_at, attempt_count=1, charged=0, max_attempts=before.max_attempts)
    # A suspect had no such mark when its attempt began: the loss gave it.
    begun = replace(begun, alone=before.alone and not before.suspect)

    def settle(job):
        transition = apply(replace(begun, job_cancelled=job.state == "cancelled"), event, job.now)
        items.settle(tx, job, one, transition.item, transition.reason, outcome)

    return settle


def expect(tx, job_id, arrow, event, case):
    """The arrow does to the item what the rules say of the event; without an event it is refused."""
    before, all_before, job = item(tx, job_id), snapshot(tx, job_id), jobs.lock(tx, job_id)
    if event is None:
        with pytest.raises(StaleArrow):
            arrow(job)
        assert snapshot(tx, job_id) == all_before, case
        return
    arrow(job)
    found, expected = item(tx, job_id), apply(before, event, job.now).item
    assert before.state not in lifecycle.TERMINAL
    # A worker's result refers to its attempt; what an expired item was charged no longer matters to anybody.
    expected = replace(expected, result_ref=found.result_ref if expected.result_ref else None)
    if expected.error_code == "expired":
        expected = replace(expected, charged=found.charged, alone=found.alone)
    assert found == expected, case
    check(tx, job_id)


@contextmanager
def undone(tx):
    savepoint = tx.begin_nested()
    yield
    savepoint.rollback()


def held(tx, job_id, *, right, position=0):
    """The item's last attempt, or one that never was."""
    own = "SELECT attempt_id FROM items WHERE job_id = %s AND position = %s"
    attempt_id = value(tx, own, job_id, position) if right else None
    return Held(job_id, position, attempt_id or uuid4(), 1, 0, alone=item(tx, job_id, position).alone, losses_alone=0)


def start(tx, job_id, dispatch_id):
    released = Released(job_id, 0, dispatch_id)
    return items.start(tx, released, attempt_id=uuid4(), worker="w", lease=60.0, attempt_seconds=600.0)


def refused(tx, job_id, dispatch_id):
    return items.refusal(tx, Released(job_id, 0, dispatch_id)).reason


def dispatch_of(tx, job_id):
    return value(tx, "SELECT dispatch_id FROM items WHERE job_id = %s", job_id) or uuid4()
