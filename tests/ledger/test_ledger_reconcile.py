"""Reconcile, step by step: what should have happened and did not. Time is moved in the rows, nobody sleeps."""

from datetime import timedelta
from uuid import uuid4

import pytest
from ledger_rows import check, insert, item, new_job, rows, update, value

from pipeline.errors import LedgerError, LedgerUnavailable
from pipeline.ledger import items, jobs
from pipeline.ledger.connection import Ledger
from pipeline.ledger.reconcile import free_locks, is_silent, record_tick
from pipeline.stages.commands import Admit, Freeze, Process, Reduce
from pipeline.stages.reconcile import reconcile

LEASE = 60.0


@pytest.fixture
def tick(ledger):
    """One tick, as commands; then everything must still hold."""

    def once():
        commands = reconcile(ledger, LEASE, "w")
        for (job_id,) in rows(ledger, "SELECT job_id FROM jobs"):
            check(ledger, job_id)
        return commands

    return once


@pytest.fixture
def ago(ledger):
    """Moves a time of all rows into the past: ago("jobs", "nudged_at", 5)."""

    def move(table, column, seconds, where="true"):
        update(ledger, table, f"{column} = clock_timestamp() - interval '{seconds} seconds'", where)

    return move


def test_a_lost_lease_puts_the_item_back_under_suspicion_and_it_is_released_anew(ledger, tick):
    job_id = new_job(ledger, ["running"], lease=-1.0)
    old = value(ledger, "SELECT dispatch_id FROM items")
    (command,) = tick()
    assert isinstance(command, Process)
    assert command.released.dispatch_id not in {None, old}
    found = item(ledger, job_id)
    assert (found.state, found.suspect, found.charged, found.attempt_count) == ("released", True, 0, 1)
    assert (found.alone, command.released.alone) == (True, True)
    assert rows(ledger, "SELECT outcome, error_code FROM attempts") == [("lost", "worker_lost")]
    assert [row[0] for row in rows(ledger, "SELECT kind FROM events ORDER BY version")][1:] == ["requeued", "released"]


def test_an_item_that_was_lost_three_times_alone_fails_and_the_job_is_reduced(ledger, tick):
    job_id = new_job(ledger, ["running alone", "failed"], lease=-1.0)
    update(ledger, "items", "losses_alone = 2, attempt_count = 4", "position = 0")
    update(ledger, "attempts", "number = 4", "position = 0")
    assert tick() == [Reduce(job_id)]
    found = item(ledger, job_id)
    assert (found.state, found.error_code, found.suspect) == ("failed", "worker_lost", False)
    assert value(ledger, "SELECT error_detail IS NOT NULL FROM items WHERE position = 0")


def test_a_lease_that_is_lost_in_a_cancelled_job_ends_in_skipped_and_the_job_is_frozen(ledger, tick):
    job_id = new_job(ledger, ["running"], lease=-1.0, state="cancelled")
    assert tick() == [Freeze(job_id)]
    assert (item(ledger, job_id).state, item(ledger, job_id).error_code) == ("skipped", "cancelled")
    assert rows(ledger, "SELECT kind, error_code FROM events WHERE version = 2") == [("skipped", "cancelled")]
    assert value(ledger, "SELECT error_detail FROM items") is None


def test_a_lease_that_is_lost_past_the_deadline_ends_in_expired_at_the_deadline(ledger, tick):
    job_id = new_job(ledger, ["running"], lease=-1.0, expires_in=-30.0)
    assert tick() == [Reduce(job_id)]
    assert item(ledger, job_id).finished_at == item(ledger, job_id).expires_at
    assert rows(ledger, "SELECT kind, error_code FROM events WHERE version = 2") == [("expired", "expired")]


def test_after_a_gap_every_lease_is_granted_once_more(ledger, tick, ago):
    job_id = new_job(ledger, ["running"], lease=-1.0)
    insert_tick(ledger)
    ago("reconciler", "last_tick", LEASE)
    assert tick() == []
    assert item(ledger, job_id).state == "running"
    assert value(ledger, "SELECT lease_until > clock_timestamp() + interval '50 seconds' FROM items")
    ago("items", "lease_until", 1)
    assert [type(command) for command in tick()] == [Process]


def test_without_a_gap_no_lease_is_granted(ledger, tick, ago):
    insert_tick(ledger)
    ago("reconciler", "last_tick", LEASE / 4)
    new_job(ledger, ["running"], lease=-1.0)
    assert [type(command) for command in tick()] == [Process]
    assert value(ledger, "SELECT last_tick > clock_timestamp() - interval '10 seconds' FROM reconciler")


def test_a_grant_never_reaches_past_the_attempts_deadline(ledger, tick, ago):
    new_job(ledger, ["running"], lease=-1.0)
    insert_tick(ledger)
    ago("reconciler", "last_tick", LEASE)
    ago("items", "attempt_until", 2)
    assert tick() == []
    assert rows(ledger, "SELECT outcome, error_code FROM attempts") == [("lost", "provider_timeout")]


def test_a_released_item_is_published_again_once_a_later_one_has_started(ledger, tick, ago):
    job_id = new_job(ledger, ["released", "running"])
    dispatch_id = value(ledger, "SELECT dispatch_id FROM items WHERE position = 0")
    ago("items", "published_at", 10, "position = 0")
    ago("attempts", "started_at", LEASE / 12)
    ago("attempts", "published_at", 11)
    assert tick() == []
    ago("attempts", "published_at", 9)
    (command,) = tick()
    assert (command.released.position, command.released.dispatch_id) == (0, dispatch_id)
    assert rows(ledger, "SELECT state, publishes FROM items WHERE position = 0") == [("released", 2)]
    assert tick() == []
    assert value(ledger, "SELECT version FROM jobs WHERE job_id = %s", job_id) == 1


def test_a_message_that_was_passed_a_moment_ago_may_still_be_on_its_way(ledger, tick, ago):
    new_job(ledger, ["released", "running"])
    ago("items", "published_at", 40, "position = 0")
    ago("attempts", "published_at", 39)
    ago("attempts", "started_at", LEASE / 12 - 3)
    assert tick() == []


@pytest.mark.parametrize(("publishes", "patience"), [(1, 60), (2, 120), (3, 240), (4, 480), (5, 900), (90, 900)])
def test_a_message_that_may_only_wait_is_repeated_with_doubling_backoff(ledger, tick, ago, publishes, patience):
    new_job(ledger, ["released"])
    update(ledger, "items", f"publishes = {publishes}", "true")
    ago("items", "published_at", patience - 5)
    assert tick() == []
    ago("items", "published_at", patience + 1)
    assert [type(command) for command in tick()] == [Process]
    assert tick() == []


def test_free_lanes_are_filled_up_to_the_jobs_concurrency(ledger, tick):
    job_id = new_job(ledger, ["released", "fresh", "fresh", "waiting", "fresh"], concurrency=3)
    assert {command.released.position for command in tick()} == {1, 3}
    assert tick() == []
    lanes = rows(ledger, "SELECT position, lane FROM items WHERE lane IS NOT NULL ORDER BY lane")
    assert {row.lane for row in lanes} == {0, 1, 2}
    assert value(ledger, "SELECT version FROM jobs WHERE job_id = %s", job_id) == 3


def test_a_document_that_waits_is_released_when_it_is_due(ledger, tick, ago):
    new_job(ledger, ["waiting"])
    ago("items", "available_at", -5)
    assert tick() == []
    ago("items", "available_at", 0)
    assert [type(command) for command in tick()] == [Process]


def test_no_lane_is_opened_while_the_gate_is_paused(ledger, tick, ago):
    new_job(ledger, ["fresh"], profile="slow")
    with ledger.transaction() as tx:
        now = tx.exec_driver_sql("SELECT now()").scalar_one()
        insert(
            tx, "gates", {"profile": "slow", "paused_until": now + timedelta(minutes=1), "error_code": "rate_limited"}
        )
    assert tick() == []
    ago("gates", "paused_until", 0)
    assert [type(command) for command in tick()] == [Process]


HOPS = {
    "admit": (Admit, {"state": "accepted"}, ["fresh"]),
    "reduce": (Reduce, {"state": "running"}, ["failed"]),
    "freeze": (Freeze, {"state": "completed"}, ["failed"]),
    "freeze a cancelled job": (Freeze, {"state": "cancelled"}, ["skipped"]),
}


@pytest.mark.parametrize("hop", HOPS)
def test_an_overdue_hop_is_asked_for_after_a_grace_and_then_with_doubling_backoff(ledger, tick, ago, hop):
    command, columns, kinds = HOPS[hop]
    job_id = new_job(ledger, kinds, **columns)
    assert tick() == []  # seen first
    for patience in (5, 10, 20, 40):
        ago("jobs", "nudged_at", patience - 2)
        assert tick() == []
        ago("jobs", "nudged_at", patience)
        assert tick() == [command(job_id)]
    update(ledger, "jobs", "nudges = 50", "true")
    ago("jobs", "nudged_at", 15 * LEASE - 5)
    assert tick() == []
    ago("jobs", "nudged_at", 15 * LEASE)
    assert tick() == [command(job_id)]


def test_a_hop_that_was_made_starts_the_next_one_with_its_own_grace(ledger, tick, ago):
    job_id = new_job(ledger, ["failed"], state="accepted")
    tick()
    ago("jobs", "nudged_at", 5)
    assert tick() == [Admit(job_id)]
    with ledger.transaction() as tx:
        jobs.admit(tx, jobs.lock(tx, job_id))
    assert rows(ledger, "SELECT nudged_at, nudges FROM jobs") == [(None, 0)]
    assert tick() == []


def test_a_frozen_job_is_looked_at_no_more(ledger, tick, ago):
    new_job(ledger, ["failed"], state="completed")
    update(ledger, "jobs", "frozen_at = now()", "true")
    tick()
    ago("jobs", "nudged_at", 10_000)
    assert tick() == []


@pytest.mark.parametrize("state", ["accepted", "running", "cancelled"])
def test_open_documents_are_failed_at_the_deadline_whenever_it_is_noticed(ledger, tick, state):
    kinds = ["fresh", "fresh"] if state == "accepted" else ["fresh", "running", "released", "suspect", "waiting"]
    job_id = new_job(ledger, kinds, state=state, expires_in=-5_000.0)
    follows = {"accepted": [], "running": [Reduce(job_id)], "cancelled": [Freeze(job_id)]}
    assert tick() == follows[state]
    for position in range(len(kinds)):
        found = item(ledger, job_id, position)
        assert (found.state, found.error_code, found.finished_at) == ("failed", "expired", found.expires_at)
    events = rows(ledger, "SELECT position, kind, at FROM events WHERE version > 1 ORDER BY version")
    assert events == [(position, "expired", found.expires_at) for position in range(len(kinds))]
    assert tick() == []


def test_a_cancelled_jobs_interrupted_sweep_goes_on_and_what_runs_may_end(ledger, tick):
    job_id = new_job(ledger, ["fresh", "running", "released"], state="cancelled")
    assert tick() == []
    assert [item(ledger, job_id, position).state for position in range(3)] == ["skipped", "running", "skipped"]
    other = new_job(ledger, ["fresh", "waiting"], state="cancelled")
    assert tick() == [Freeze(other)]


def test_the_first_tick_of_all_is_no_gap(ledger, tick):
    new_job(ledger, ["running"], lease=-1.0)
    assert [type(command) for command in tick()] == [Process]


def test_one_jobs_trouble_does_not_stop_the_others(ledger, tick, monkeypatch):
    sick, well = new_job(ledger, ["fresh"], expires_in=-9.0), new_job(ledger, ["fresh"], expires_in=-5.0)
    lock = jobs.lock

    def locked(tx, job_id):
        if job_id == sick:
            raise LedgerError("no")
        return lock(tx, job_id)

    monkeypatch.setattr(jobs, "lock", locked)
    assert tick() == [Reduce(well)]
    assert item(ledger, sick).state == "pending"


def test_a_settle_that_came_between_is_no_loss(ledger, tick, monkeypatch):
    job_id = new_job(ledger, ["running"], lease=-1.0)
    settle = items.settle

    def overtaken(tx, job, held, *arguments):
        update(tx, "items", "lease_until = clock_timestamp() + interval '60 seconds'", "true")
        return settle(tx, job, held, *arguments)

    monkeypatch.setattr(items, "settle", overtaken)
    assert tick() == []
    assert (item(ledger, job_id).state, item(ledger, job_id).suspect) == ("running", False)


def test_a_tick_without_a_database_is_for_its_caller_to_see():
    nowhere = Ledger("postgresql+psycopg://nobody@127.0.0.1:1/none")
    with pytest.raises(LedgerError, match="did not answer"):
        reconcile(nowhere, LEASE, "w")


def insert_tick(ledger):
    with ledger.transaction() as tx:
        insert(tx, "reconciler", {"one": 1, "last_tick": "now", "worker": str(uuid4())})


def test_a_process_that_is_stopped_in_a_transaction_loses_its_locks(ledger):
    job_id = new_job(ledger, ["running"])

    def lock_and_be_stopped():
        with ledger.transaction() as stopped, ledger.statement() as tx:
            jobs.lock(stopped, job_id)
            assert free_locks(tx, 60.0) == 0, "it may come back"
            assert free_locks(tx, 0.0) == 1
            with ledger.transaction() as other:
                jobs.lock(other, job_id)
            jobs.lock(stopped, job_id)

    with pytest.raises(LedgerUnavailable):
        lock_and_be_stopped()


def test_who_ticks_in_the_place_of_a_silent_one_goes_on_until_that_one_is_heard(ledger):
    with ledger.statement() as tx:
        record_tick(tx, "first")
        assert not is_silent(tx, "second", 60.0)
        assert is_silent(tx, "second", 0.0)
        record_tick(tx, "second")
        assert is_silent(tx, "second", 60.0)
        record_tick(tx, "first")
        assert not is_silent(tx, "second", 60.0)


def test_a_job_whose_lock_somebody_keeps_holds_up_no_other(ledger, database):
    kept, other = (new_job(ledger, ["running"], lease=-1.0) for _ in range(2))
    impatient = Ledger(database, lock_seconds=0.1)
    with ledger.transaction() as tx:
        jobs.lock(tx, kept)
        commands = reconcile(impatient, LEASE, "w")
    impatient.close()
    assert [command.released.job_id for command in commands] == [other]
    assert item(ledger, kept).state == "running"
