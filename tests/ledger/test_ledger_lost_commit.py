"""A COMMIT whose answer is lost may have happened or not: the settle finds out, and nothing happens twice."""

from contextlib import contextmanager

import pytest
from ledger_bench import work_off
from ledger_rows import check, item, rows, submitted, value

from pipeline.errors import LedgerUnavailable
from pipeline.ledger.connection import Ledger
from pipeline.stages import process as stage
from pipeline.stages.admit import admit
from pipeline.stages.commands import Reduce


@pytest.fixture
def cut(monkeypatch):
    """cut(committed=True): the connection breaks once, after or before the next transaction's COMMIT.

    `edge` names the door: a transaction, or a statement that commits by itself.
    """

    def arm(*, committed, edge="transaction"):
        whole, cuts = getattr(Ledger, edge), []

        @contextmanager
        def transaction(self):
            if cuts:
                with whole(self) as tx:
                    yield tx
                return
            cuts.append(True)
            if edge == "statement" and not committed:
                raise LedgerUnavailable("cut before the statement")
            with whole(self) as tx:
                yield tx
                if not committed:
                    raise LedgerUnavailable("cut before the COMMIT")
            raise LedgerUnavailable("cut after the COMMIT")

        monkeypatch.setattr(Ledger, edge, transaction)

    return arm


@pytest.fixture
def lane(ledger, settings):
    """A job of three documents on one lane: (job_id, its first release)."""
    job_id = submitted(ledger, settings, 3, concurrency=1)
    return job_id, admit(ledger, job_id).released[0]


@pytest.mark.parametrize("committed", [True, False])
def test_the_next_document_is_handed_on_and_nothing_is_settled_twice(ledger, bench, lane, cut, committed):
    job_id, first = lane
    cut(committed=committed)
    worker = bench()
    done = stage.process(worker, first)
    assert done.settled
    assert done.next.position == 1
    assert rows(ledger, "SELECT position, dispatch_id FROM items WHERE lane = 0") == [(1, done.next.dispatch_id)]
    kinds = [row[0] for row in rows(ledger, "SELECT kind FROM events ORDER BY version")]
    assert kinds == ["accepted", "admitted", "succeeded"]
    work_off(worker, done.next)
    assert value(ledger, "SELECT count(*) FROM attempts") == 3
    assert len(worker.summarizer("").requests) == 3
    check(ledger, job_id)


def test_a_requeue_whose_answer_is_lost_is_charged_once(ledger, bench, lane, cut):
    job_id, first = lane
    cut(committed=True)
    done = stage.process(bench("provider_unavailable"), first)
    assert done.next.position == 1
    assert (item(ledger, job_id).state, item(ledger, job_id).charged) == ("pending", 1)
    assert rows(ledger, "SELECT outcome, error_code FROM attempts") == [("requeued", "provider_unavailable")]
    check(ledger, job_id)


def test_a_next_document_that_was_started_meanwhile_is_not_handed_on_again(ledger, bench, lane, cut, monkeypatch):
    _job_id, first = lane
    cut(committed=True)
    worker, overtaken = bench(), []
    find_out = stage._overtaken

    def another_worker_first(*arguments):
        if not overtaken:
            overtaken.append(True)
            (row,) = rows(ledger, "SELECT job_id, position, dispatch_id FROM items WHERE lane = 0")
            work_off(bench(), type(first)(*row))
        return find_out(*arguments)

    monkeypatch.setattr(stage, "_overtaken", another_worker_first)
    assert stage.process(worker, first).next is None
    assert value(ledger, "SELECT count(*) FROM attempts") == 3
    assert value(ledger, "SELECT succeeded FROM jobs") == 3


def test_the_last_documents_lost_answer_still_asks_for_the_reducer(ledger, settings, bench, cut):
    job_id = submitted(ledger, settings, 1)
    (only,) = admit(ledger, job_id).released
    cut(committed=True)
    assert stage.process(bench(), only).commands == (Reduce(job_id),)
    assert item(ledger, job_id).state == "succeeded"


@pytest.mark.parametrize("committed", [True, False])
def test_an_admission_whose_answer_is_lost_still_sends_its_first_documents(ledger, settings, cut, committed):
    job_id = submitted(ledger, settings, 3, concurrency=2)
    cut(committed=committed)
    released = admit(ledger, job_id).released
    found = rows(ledger, "SELECT position, dispatch_id FROM items WHERE lane IS NOT NULL ORDER BY position")
    assert found == [(one.position, one.dispatch_id) for one in released]
    assert [position for position, _ in found] == [0, 1]
    assert admit(ledger, job_id).released == ()
    check(ledger, job_id)


@pytest.mark.parametrize("committed", [True, False])
def test_a_start_whose_answer_is_lost_is_known_by_its_attempt(ledger, bench, lane, cut, committed):
    job_id, first = lane
    cut(committed=committed, edge="statement")
    worker = bench()
    assert stage.process(worker, first).settled
    assert rows(ledger, "SELECT number, outcome FROM attempts") == [(1, "succeeded")]
    assert len(worker.summarizer("").requests) == 1
    check(ledger, job_id)
