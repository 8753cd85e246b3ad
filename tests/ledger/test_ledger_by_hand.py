"""What a person changes by hand on a running job: lanes, deadline, and the document that never ends."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from uuid import uuid4

import pytest
from ledger_rows import check, item, new_job, rows, value

from pipeline.errors import InvalidRequest, NotFound, StaleArrow
from pipeline.ledger import items, jobs
from pipeline.ledger.releases import Released
from pipeline.stages.commands import Freeze, Reduce
from pipeline.stages.edit import edit
from pipeline.stages.fail import fail
from pipeline.stages.process import process
from pipeline.stages.reconcile import reconcile

LEASE = 60.0


def released(ledger):
    """The messages of what reconcile releases now."""
    return [command.released for command in reconcile(ledger, LEASE, "w")]


def test_more_lanes_are_opened_and_fewer_are_reached_as_documents_end(ledger, bench):
    job_id = new_job(ledger, ["fresh"] * 6, concurrency=2)
    first = released(ledger)
    assert [one.position for one in first] == [0, 1]
    edit(ledger, job_id, concurrency=4)
    first += released(ledger)
    assert [one.position for one in first] == [0, 1, 2, 3]
    edit(ledger, job_id, concurrency=1)
    worker = bench()
    nexts = [process(worker, one).next for one in first]
    assert [one.position if one else None for one in nexts] == [4, None, None, None]
    assert released(ledger) == []
    assert value(ledger, "SELECT running FROM jobs") == 1
    check(ledger, job_id)


def test_an_edit_is_an_event_that_says_what_was_and_what_is(ledger):
    job_id = new_job(ledger, ["fresh"], concurrency=2)
    with ledger.transaction() as tx:
        before = jobs.lock(tx, job_id)
    edit(ledger, job_id, deadline_seconds=10 * 86_400)
    ((kind, detail),) = rows(ledger, "SELECT kind, detail FROM events WHERE version = 2")
    now = before.created_at + timedelta(days=10)
    assert kind == "edited"
    assert json.loads(detail) == {
        "concurrency": [2, 2],
        "expires_at": [before.expires_at.isoformat(), now.isoformat()],
    }
    assert value(ledger, "SELECT expires_at FROM jobs") == now


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({}, "nothing to change"),
        ({"concurrency": 0}, "concurrency"),
        ({"deadline_seconds": 31 * 86_400}, "deadline_seconds"),
        ({"deadline_seconds": 60}, "give a later deadline, or cancel it"),
    ],
)
def test_an_edit_that_no_job_may_have_changes_nothing(ledger, change, said):
    job_id = new_job(ledger, ["fresh"])
    with pytest.raises(InvalidRequest, match=said):
        edit(ledger, job_id, **change)
    assert value(ledger, "SELECT version FROM jobs") == 1


@pytest.mark.parametrize(("state", "follows"), [("running", Reduce), ("cancelled", Freeze)])
def test_the_last_open_document_that_is_failed_by_hand_lets_its_job_end(ledger, state, follows):
    job_id = new_job(ledger, ["failed", "running"], state=state)
    assert fail(ledger, job_id, "doc-1") == (follows(job_id),)
    assert (item(ledger, job_id, 1).state, item(ledger, job_id, 1).error_code) == ("failed", "failed_by_operator")
    assert rows(ledger, "SELECT outcome, error_code FROM attempts WHERE position = 1") == [
        ("lost", "failed_by_operator")
    ]
    check(ledger, job_id)


def test_what_the_attempt_says_later_is_kept_and_never_applied(ledger, bench):
    job_id = new_job(ledger, ["fresh", "fresh"], concurrency=1)
    worker = bench()
    (first,) = released(ledger)

    class FailedMeanwhile:
        def summarize(self, request, attempt):
            fail(ledger, job_id, "doc-0")
            return worker.summarizer("").summarize(request, attempt)

    done = process(bench(summarizer=FailedMeanwhile()), first)
    assert not done.settled
    assert item(ledger, job_id).error_code == "failed_by_operator"
    assert rows(ledger, "SELECT outcome, result_hash IS NOT NULL FROM attempts") == [("late", True)]
    assert value(ledger, "SELECT count(*) FROM calls") == 1
    check(ledger, job_id)


def test_a_final_document_is_not_failed_again_and_an_unknown_one_is_named(ledger):
    job_id = new_job(ledger, ["succeeded", "fresh"])
    with pytest.raises(StaleArrow, match="final already"):
        fail(ledger, job_id, "doc-0")
    with pytest.raises(NotFound, match="no document 'doc-9'"):
        fail(ledger, job_id, "doc-9")
    assert value(ledger, "SELECT version FROM jobs") == 1


def test_the_attempt_of_a_start_that_a_person_waited_for_ends_with_its_document(ledger):
    job_id = new_job(ledger, ["released"])
    released = Released(job_id, 0, value(ledger, "SELECT dispatch_id FROM items"))
    with ThreadPoolExecutor(1) as pool:
        with ledger.transaction() as tx:
            started = items.start(tx, released, attempt_id=uuid4(), worker="w", lease=60.0, attempt_seconds=600.0)
            failing = pool.submit(fail, ledger, job_id, "doc-0")
            waits = (
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
            )
            while not value(ledger, waits):
                assert not failing.done()
        failing.result(30)
    assert rows(ledger, "SELECT attempt_id, outcome FROM attempts") == [(started.attempt_id, "lost")]
    check(ledger, job_id)


def test_a_worker_that_does_not_know_the_jobs_profile_shuts_its_gate_and_loses_no_document(ledger, bench):
    job_id = new_job(ledger, ["fresh"], concurrency=1)
    with ledger.transaction() as tx:
        tx.exec_driver_sql("UPDATE jobs SET profile = 'unknown-here' WHERE job_id = %s", (job_id,))
    (first,) = released(ledger)
    process(bench(), first)
    waiting = item(ledger, job_id)
    assert (waiting.state, waiting.charged) == ("pending", 0)
    assert rows(ledger, "SELECT opened_for FROM gates WHERE profile = 'unknown-here'") == [("provider_auth",)]
    (detail,) = rows(ledger, "SELECT error_detail FROM attempts")[0]
    assert "does not know the profile 'unknown-here'" in detail
