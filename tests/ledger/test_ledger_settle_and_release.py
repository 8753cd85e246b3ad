"""Settle and release in one round trip: the lane is handed on, and a settle that does not apply takes nothing along."""

from uuid import uuid4

import pytest
from ledger_rows import check, item, new_job, rows, snapshot

from pipeline.domain.lifecycle import Item, Succeed, apply
from pipeline.errors import LedgerError, LedgerUnavailable, StaleArrow
from pipeline.ledger import items, jobs, releases
from pipeline.ledger.attempts import Call
from pipeline.ledger.connection import Statement, together
from pipeline.ledger.items import Held, Outcome

RESULT = Outcome("succeeded", result_hash="hash-1", summary="said", actions="[]", warnings="[]")
CALLS = [Call(1, "summarize", 0.1, 0.0, input_tokens=10, output_tokens=5)]


def settle_and_release(tx, job_id, lanes, later=0):
    """Settle the job's first item, which runs, and release into one of `lanes`; `later` shifts the fence."""
    job = jobs.lock(tx, job_id)
    [(attempt, number)] = rows(
        tx, "SELECT attempt_id, attempt_count FROM items WHERE job_id = %s AND position = 0", job_id
    )
    held = Held(job_id, 0, attempt, number + later, 0, alone=False, losses_alone=0)
    before = item(tx, job_id)
    begun = Item("running", before.expires_at, attempt_count=number, charged=0, max_attempts=before.max_attempts)
    transition = apply(begun, Succeed(number, "ref", "hash-1"), job.now)
    dispatch = uuid4()
    arguments = (transition.item, transition.reason, RESULT, CALLS, lanes, dispatch)
    return dispatch, items.settle_and_release(tx, job, held, *arguments)


def test_the_freed_lane_is_handed_to_the_next_document(ledger):
    job_id = new_job(ledger, ["running", "fresh"], concurrency=1)
    with ledger.transaction() as tx:
        dispatch, (lane, released) = settle_and_release(tx, job_id, [0])
    assert (lane, released.position, released.dispatch_id) == (0, 1, dispatch)
    assert len(rows(ledger, "SELECT 1 FROM calls")) == 1
    check(ledger, job_id)


def test_a_settle_that_does_not_apply_releases_and_records_nothing(ledger):
    job_id = new_job(ledger, ["running", "fresh"], concurrency=2)
    before = snapshot(ledger, job_id)
    with pytest.raises(StaleArrow), ledger.transaction() as tx:
        settle_and_release(tx, job_id, [1], later=1)
    assert snapshot(ledger, job_id) == before


def test_a_lane_that_is_taken_is_left_alone_and_no_document_is_passed_over(ledger):
    job_id = new_job(ledger, ["running", "fresh", "fresh"], concurrency=8)
    with ledger.transaction() as tx:
        released = releases.release(tx, jobs.lock(tx, job_id), [0, 5], [uuid4(), uuid4()])
    assert [one.position for one in released] == [1]
    found = rows(ledger, "SELECT position, lane FROM items WHERE job_id = %s AND lane IS NOT NULL ORDER BY 1", job_id)
    assert found == [(0, 0), (1, 5)]
    assert rows(ledger, "SELECT next_position FROM jobs WHERE job_id = %s", job_id) == [(2,)]
    check(ledger, job_id)


def test_an_error_of_one_statement_undoes_them_all_and_is_ours(ledger):
    job_id = new_job(ledger, ["fresh"])
    before = snapshot(ledger, job_id)
    rename = Statement("UPDATE items SET account_id = 'other' WHERE job_id = %s", (job_id,))
    with pytest.raises(LedgerError, match="items_position_check"), ledger.transaction() as tx:
        together(tx, rename, Statement("UPDATE items SET position = -1 WHERE job_id = %s", (job_id,)))
    assert snapshot(ledger, job_id) == before


def test_a_connection_that_is_cut_is_named_and_the_next_one_is_new(ledger):
    with pytest.raises(LedgerUnavailable), ledger.transaction() as tx:
        together(tx, Statement("SELECT pg_terminate_backend(pg_backend_pid())", ()))
    with ledger.transaction() as tx:
        assert together(tx, Statement("SELECT 1", ()), Statement("SELECT 2", ())) == [[(1,)], [(2,)]]


def test_the_librarys_own_errors_are_translated(ledger):
    with pytest.raises(LedgerError, match="DivisionByZero"), ledger.statement() as tx:
        together(tx, Statement("SELECT 1 / 0", ()))
