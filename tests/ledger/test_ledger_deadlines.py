"""An attempt's own wall clock, and what comes after it."""

from uuid import uuid4

import pytest
from ledger_rows import item, new_job, rows, update, value

from pipeline.domain.failure import POLICIES
from pipeline.ledger import items
from pipeline.ledger.items import Outcome
from pipeline.stages.commands import Process, Reduce
from pipeline.stages.reconcile import reconcile

LEASE = 60.0
RESULT = Outcome("succeeded", result_hash="h", summary="late", actions="[]", warnings="[]", model="m")


def past_its_deadline(ledger):
    update(ledger, "items", "attempt_until = lease_until", "state = 'running'")


def test_an_attempt_past_its_wall_clock_has_timed_out_and_is_no_suspicion(ledger):
    job_id = new_job(ledger, ["running"], lease=-1.0)
    past_its_deadline(ledger)
    assert reconcile(ledger, LEASE, "w") == []
    found = item(ledger, job_id)
    assert (found.state, found.suspect, found.charged) == ("pending", False, 1)
    assert found.available_at is not None
    assert rows(ledger, "SELECT outcome, error_code FROM attempts") == [("lost", "provider_timeout")]


@pytest.mark.parametrize("late", [None, RESULT, Outcome("failed", "internal_error")])
def test_an_attempt_that_times_out_again_and_again_fails_with_that_code_whatever_it_says_later(ledger, late):
    job_id = new_job(ledger, ["running"], lease=-1.0)
    past_its_deadline(ledger)
    for _ in range(POLICIES["provider_timeout"].tries - 1):
        reconcile(ledger, LEASE, "w")
        if late:
            say_late(ledger, late)
        update(ledger, "items", "available_at = clock_timestamp()", "state = 'pending'")
        (command,) = reconcile(ledger, LEASE, "w")
        assert isinstance(command, Process)
        start_again(ledger, command.released)
        past_its_deadline(ledger)
    assert reconcile(ledger, LEASE, "w") == [Reduce(job_id)]
    found = item(ledger, job_id)
    assert (found.state, found.error_code) == ("failed", "provider_timeout")


def say_late(ledger, outcome):
    with ledger.statement() as tx:
        assert items.keep_late(tx, value(tx, "SELECT attempt_id FROM items"), outcome)


def start_again(ledger, released):
    with ledger.statement() as tx:
        started = items.start(tx, released, attempt_id=uuid4(), worker="w", lease=-1.0, attempt_seconds=600.0)
    assert started is not None
