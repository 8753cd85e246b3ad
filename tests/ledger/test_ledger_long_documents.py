"""A document of many calls: an attempt that made way is not charged, and tries count from there."""

import pytest
from ledger_bench import Does, work_off
from ledger_rows import check, item, rows, submitted, update, value

from pipeline.domain.failure import RATE_LIMIT_PATIENCE
from pipeline.errors import GivenBack, ItemFailure
from pipeline.stages import attempt as attempt_stage
from pipeline.stages.admit import admit
from pipeline.stages.process import process
from pipeline.stages.reconcile import reconcile
from pipeline.summarizers.port import Demand, Step

CODES = "SELECT error_code FROM attempts WHERE job_id = %s ORDER BY number"


class Long:
    """A document whose attempts make these calls, one after the other: True succeeds, a code fails.

    What fails ends the attempt but for an invalid answer, which is asked for again; `back` gives the document back.
    """

    def __init__(self, *attempts, passes=lambda: None):
        self.attempts, self.passes = list(attempts), passes

    def __call__(self, _request, attempt):
        for number, call in enumerate(self.attempts.pop(0)):
            if call == "back":
                raise GivenBack("our own sentence")
            try:
                self._call(attempt, number, call)
            except ItemFailure as failed:
                if failed.error_code != "invalid_output":
                    raise

    def _call(self, attempt, number, call):
        with attempt.call(Step("map", number), Demand(10, 10)):
            self.passes()
            if call is not True:
                raise ItemFailure(call, "our own sentence")


@pytest.fixture
def to_the_end(ledger, settings, bench):
    """Works a job of one document off, and gives its id."""

    def work(summarizer, meanwhile=lambda _: None, **options):
        worker, job_id = bench(summarizer=Does(summarizer)), submitted(ledger, settings, 1, **options)
        work_off(worker, admit(ledger, job_id).released[0])
        while item(ledger, job_id).state == "pending":
            meanwhile(job_id)
            update(ledger, "gates", "paused_until = NULL, error_code = NULL", "true")
            update(ledger, "items", "available_at = clock_timestamp()", "job_id = %(job)s", job=job_id)
            for command in reconcile(ledger, settings.lease_seconds, "w"):
                if hasattr(command, "released"):
                    process(worker, command.released)
        check(ledger, job_id)
        return job_id

    return work


def test_an_attempt_that_made_way_is_not_charged_for_a_failure_that_it_mended(ledger, to_the_end):
    job_id = to_the_end(Long(*[["invalid_output", True, "back"]] * 5, [True]), max_attempts=3)
    assert (item(ledger, job_id).state, item(ledger, job_id).charged) == ("succeeded", 0)


def test_an_attempt_whose_calls_all_failed_is_charged_when_it_goes_back(ledger, to_the_end):
    job_id = to_the_end(Long(*[["invalid_output", "back"]] * 3), max_attempts=3)
    found = item(ledger, job_id)
    assert (found.state, found.error_code, found.charged) == ("failed", "invalid_output", 3)


def test_tries_are_counted_from_the_last_attempt_in_which_a_call_succeeded(ledger, to_the_end):
    """Two timeouts in a row end a document; of these six no two are without a success between them."""
    job_id = to_the_end(Long(*[[True, "provider_timeout"]] * 6, [True]))
    assert rows(ledger, CODES, job_id) == [("provider_timeout",)] * 6 + [(None,)]
    assert (item(ledger, job_id).state, item(ledger, job_id).charged) == ("succeeded", 6)


def test_a_call_that_always_fails_has_its_tries_and_no_more(ledger, to_the_end):
    job_id = to_the_end(Long([True, "provider_timeout"], ["provider_timeout"]))
    assert (item(ledger, job_id).state, item(ledger, job_id).error_code) == ("failed", "provider_timeout")


def test_max_attempts_bounds_a_document_that_makes_way_and_fails_each_time(ledger, to_the_end):
    job_id = to_the_end(Long(*[[True, "provider_timeout"]] * 4), max_attempts=4)
    assert (item(ledger, job_id).state, item(ledger, job_id).attempt_count) == ("failed", 4)


@pytest.mark.parametrize(("first_call", "ends"), [(True, "succeeded"), ("rate_limited", "failed")])
def test_patience_with_a_limited_document_counts_from_its_last_success(ledger, to_the_end, first_call, ends):
    def an_hour_later(job_id):
        hour = f"ended_at = ended_at - interval '{RATE_LIMIT_PATIENCE} s'"
        update(ledger, "attempts", hour, "job_id = %(job)s", job=job_id)

    turns = [["rate_limited"], [first_call, "rate_limited"], [True]]
    job_id = to_the_end(Long(*turns), meanwhile=an_hour_later)
    assert item(ledger, job_id).state == ends


@pytest.mark.parametrize(("first_call", "charged"), [(True, 0), ("invalid_output", 1)])
def test_with_little_time_left_no_call_is_sent_that_can_only_time_out(
    ledger, settings, to_the_end, monkeypatch, first_call, charged
):
    """Every call takes all of an attempt's time but for a second."""
    clock = [0.0]
    monkeypatch.setattr(attempt_stage, "monotonic", lambda: clock[0])

    def passes():
        clock[0] += settings.attempt_seconds - 1.0

    job_id = to_the_end(Long([first_call, True], [True], passes=passes))
    outcomes = rows(ledger, "SELECT outcome FROM attempts WHERE job_id = %s ORDER BY number", job_id)
    assert outcomes == [("requeued",), ("succeeded",)]
    assert item(ledger, job_id).charged == charged
    assert value(ledger, "SELECT count(*) FROM calls") == 2
