"""Declared rates: every call has a place of its own, whoever asks at the same moment; a refused one costs nothing."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import Barrier

import pytest
from ledger_bench import work_off
from ledger_rows import check, item, rows, submitted, update, value

from pipeline.domain.documents import Transcript, Turn
from pipeline.domain.gate import LONGEST_SLEEP
from pipeline.ledger import gates, views
from pipeline.settings import Profile
from pipeline.stages import process as stage
from pipeline.stages.admit import admit
from pipeline.stages.process import process
from pipeline.stages.reconcile import reconcile
from pipeline.stages.work import work as work_on
from pipeline.summarizers.tokens import count_tokens, within_limit

LEASE = 60.0
PROFILES = {
    "slow": Profile(requests_per_minute=1),
    "brisk": Profile(requests_per_minute=60_000, tokens_per_minute=6_000_000),
    "wordy": Profile(tokens_per_minute=60),
    "steady": Profile(requests_per_minute=300),
}


@pytest.fixture
def settings(settings, tmp_path):
    return settings.model_copy(update={"profiles": PROFILES, "data_dir": tmp_path})


def reserve(ledger, request=0.0, tokens=0.0, profile="slow"):
    with ledger.statement() as tx:
        return gates.reserve(tx, profile, request, tokens)


def due(ledger, column="requests_due"):
    """When the next place is, in seconds of the ledger's clock."""
    return value(ledger, f"SELECT extract(epoch FROM {column})::float8 FROM gates")


def now(ledger):
    return value(ledger, "SELECT extract(epoch FROM clock_timestamp())::float8")


@pytest.mark.parametrize(("column", "places"), [("requests_due", (0.25, 0.0)), ("tokens_due", (0.0, 0.25))])
def test_eight_threads_at_once_are_never_given_more_places_than_the_rate_has(ledger, column, places):
    barrier, began = Barrier(8), now(ledger)

    def ask(_):
        barrier.wait(10)
        return [reserve(ledger, *places) for _ in range(12)]

    with ThreadPoolExecutor(8) as pool:
        waits = [wait for each in pool.map(ask, range(8)) for wait in each]
    granted = [wait for wait in waits if wait is not None]
    assert len(waits) == 96
    assert all(0.0 <= wait <= LONGEST_SLEEP for wait in granted)
    # Each place is a quarter of a second behind the one before; the last of them at most two seconds ahead.
    assert due(ledger, column) - began >= 0.25 * len(granted) - 0.001
    assert due(ledger, column) <= now(ledger) + LONGEST_SLEEP + 0.25


def test_of_eight_that_ask_at_once_for_the_only_place_one_gets_it(ledger):
    barrier = Barrier(8)

    def ask(_):
        barrier.wait(10)
        return reserve(ledger, 3_600.0)

    with ThreadPoolExecutor(8) as pool:
        waits = list(pool.map(ask, range(8)))
    assert sorted(wait is None for wait in waits) == [False, *[True] * 7]


def test_a_refusal_reserves_nothing_and_the_other_rate_is_asked_too(ledger):
    assert reserve(ledger, 0.001, 500.0) == 0.0
    before = rows(ledger, "SELECT requests_due, tokens_due FROM gates")
    assert reserve(ledger, 0.001, 0.001) is None
    assert rows(ledger, "SELECT requests_due, tokens_due FROM gates") == before
    assert reserve(ledger, 0.001, 0.001, profile="other") == 0.0


def test_a_call_waits_for_its_place(ledger):
    assert reserve(ledger, 1.5) == 0.0
    first = due(ledger)
    wait = reserve(ledger, 1.5)
    assert 0.0 < wait <= 1.5
    assert due(ledger) == pytest.approx(first + 1.5, abs=0.001)


def test_no_place_is_saved_up_while_nobody_calls(ledger):
    reserve(ledger, 0.5)
    update(ledger, "gates", "requests_due = clock_timestamp() - interval '1 hour'", "true")
    before = now(ledger)
    assert reserve(ledger, 0.5) == 0.0
    assert due(ledger) >= before + 0.5


def test_a_profile_without_declared_rates_has_no_gate(ledger, settings, bench):
    job_id = submitted(ledger, settings, 3, concurrency=1)
    work_off(bench(), admit(ledger, job_id).released[0])
    assert rows(ledger, "SELECT 1 FROM gates") == []


def test_every_call_takes_a_place_also_the_second_of_an_attempt(ledger, settings, bench):
    job_id = submitted(ledger, settings, 1, profile="brisk")
    before = now(ledger)
    [done] = work_off(bench("invalid_output"), admit(ledger, job_id).released[0])
    assert done.settled
    assert value(ledger, "SELECT count(*) FROM calls") == 2
    assert due(ledger) >= before + 0.002


def test_a_call_takes_as_much_of_the_token_rate_as_its_transcript_has_tokens(ledger, settings, bench):
    job_id = submitted(ledger, settings, 1, profile="wordy")
    before = now(ledger)
    work_off(bench(), admit(ledger, job_id).released[0])
    said = Transcript(turns=(Turn(text="We will send the offer on Monday."),))
    tokens = count_tokens(said, "o200k_base", settings.data_dir / "tiktoken")
    assert tokens > 3
    assert before + tokens <= due(ledger, "tokens_due") <= now(ledger) + tokens


def test_without_a_token_rate_a_small_transcript_is_not_counted(settings):
    said = Transcript(turns=(Turn(text="We will send the offer on Monday."),))
    assert within_limit(said, settings.profile("slow"), settings.data_dir) == 0
    assert not (settings.data_dir / "tiktoken").exists()


def test_a_document_without_a_place_goes_back_uncharged_and_nothing_starts_until_its_turn(ledger, settings, bench):
    job_id = submitted(ledger, settings, 3, concurrency=3, profile="slow")
    worker, messages = bench(), admit(ledger, job_id).released
    first, second = [stage._start(worker, released) for released in messages[:2]]
    for started in (first, second):
        stage._settle(worker, started, work_on(worker, started))
    assert item(ledger, job_id, 0).state == "succeeded"
    refused = item(ledger, job_id, 1)
    assert (refused.state, refused.charged, refused.attempt_count) == ("pending", 0, 1)
    found = "SELECT outcome, error_code, charged, error_detail FROM attempts WHERE position = 1"
    [(outcome, code, charged, detail)] = rows(ledger, found)
    assert (outcome, code, charged) == ("requeued", None, False)
    assert "declared rate of profile 'slow'" in detail
    assert value(ledger, "SELECT count(*) FROM calls") == 1

    assert not process(worker, messages[2]).settled
    assert item(ledger, job_id, 2).attempt_count == 0
    assert reconcile(ledger, LEASE, "w") == []
    with ledger.statement() as tx:
        assert "its declared rate is used up until" in views.job(tx, job_id, LEASE).waiting_for
    check(ledger, job_id)

    update(ledger, "gates", "requests_due = clock_timestamp()", "true")
    lanes = [command.released for command in reconcile(ledger, LEASE, "w")]
    assert {one.position for one in lanes} == {1, 2}
    process(worker, lanes[0])
    assert item(ledger, job_id, lanes[0].position).state == "succeeded"


def test_a_cancelled_jobs_document_without_a_place_is_skipped(ledger, settings, bench):
    job_id = submitted(ledger, settings, 1, profile="slow")
    worker = bench()
    started = stage._start(worker, admit(ledger, job_id).released[0])
    update(ledger, "jobs", "state = 'cancelled', ended_at = clock_timestamp()", "true")
    reserve(ledger, 60.0)
    stage._settle(worker, started, work_on(worker, started))
    assert (item(ledger, job_id).state, item(ledger, job_id).error_code) == ("skipped", "cancelled")


def test_a_document_whose_second_call_finds_no_place_is_charged_for_its_first_and_fails_at_last(
    ledger, settings, bench
):
    job_id = submitted(ledger, settings, 1, profile="slow", max_attempts=2)
    worker = bench("invalid_output", "invalid_output")
    process(worker, admit(ledger, job_id).released[0])
    assert rows(ledger, "SELECT error_code FROM calls") == [("invalid_output",)]
    assert (item(ledger, job_id).state, item(ledger, job_id).charged) == ("pending", 1)
    update(ledger, "gates", "requests_due = clock_timestamp()", "true")
    (command,) = reconcile(ledger, LEASE, "w")
    process(worker, command.released)
    assert (item(ledger, job_id).state, item(ledger, job_id).error_code) == ("failed", "invalid_output")
    check(ledger, job_id)


def test_every_call_is_made_in_its_own_place(ledger, settings, bench):
    job_id = submitted(ledger, settings, 5, profile="steady", concurrency=1)
    [released] = admit(ledger, job_id).released
    work_off(bench(), released)
    made = "SELECT extract(epoch FROM started_at)::float8 + began_seconds FROM attempts JOIN calls USING (attempt_id)"
    moments = sorted(moment for (moment,) in rows(ledger, made))
    assert len(moments) == 5
    assert all(later - earlier > 0.15 for earlier, later in pairwise(moments))
