"""The breaker in the ledger: what opens it, who pays for it, how one document at a time tries, and who closes it."""

import json
import os
import subprocess
import sys

import pytest
from ledger_bench import work_off
from ledger_rows import check, item, rows, submitted, update, value

from pipeline.domain.gate import OUTAGES_TO_OPEN, REJECTIONS_TO_OPEN
from pipeline.ledger import views
from pipeline.settings import Profile
from pipeline.stages import process as stage
from pipeline.stages.admit import admit
from pipeline.stages.cancel import cancel
from pipeline.stages.commands import Process
from pipeline.stages.process import process
from pipeline.stages.reconcile import reconcile
from pipeline.stages.resume import resume

#: So long that no probe comes due by itself, however slow the machine.
LEASE = 3_600.0
LANES = 8
AWAY = "provider_unavailable"


@pytest.fixture
def settings(settings):
    return settings.model_copy(update={"profiles": {"other": Profile()}, "lease_seconds": LEASE})


@pytest.fixture
def tick(ledger):
    """One tick; returns the documents whose messages it sends."""

    def once():
        return [one.released for one in reconcile(ledger, LEASE, "w") if isinstance(one, Process)]

    return once


@pytest.fixture
def come(ledger):
    """Lets a moment come that the gate or the documents wait for."""

    def move(table, column):
        update(ledger, table, f"{column} = clock_timestamp()", f"{column} > clock_timestamp()")

    return move


@pytest.fixture
def opened(ledger, settings, bench):
    """A job of 20 documents whose first attempt found the key wrong, and its other messages, not delivered yet."""

    def make(**options):
        job_id = submitted(ledger, settings, 20, **options)
        first, *others = admit(ledger, job_id).released
        assert process(bench("provider_auth"), first).next is None
        return job_id, others

    return make


def gate(ledger, profile="extractive"):
    found = "SELECT opened_for, outages, rejections, probes, paused_until FROM gates WHERE profile = %s"
    return next(iter(rows(ledger, found, profile)), None)


def attempts(ledger):
    found = "SELECT outcome, error_code, charged FROM attempts ORDER BY started_at"
    return [tuple(row) for row in rows(ledger, found)]


@pytest.mark.parametrize("code", ["quota_exhausted", "provider_auth"])
def test_one_attempt_opens_the_breaker_and_nobody_pays_for_it(ledger, settings, bench, tick, code):
    job_id = submitted(ledger, settings, 3 * LANES)
    first, *others = admit(ledger, job_id).released
    done = process(bench(code), first)
    assert (done.settled, done.next) == (True, None)
    assert gate(ledger).opened_for == code
    for released in others:
        assert not process(bench(), released).settled
    assert attempts(ledger) == [("requeued", code, False)]
    assert {one.state for one in rows(ledger, "SELECT state FROM items")} == {"pending"}
    assert value(ledger, "SELECT sum(charged) FROM items") == 0
    assert tick() == []
    check(ledger, job_id)


def test_an_outage_opens_the_breaker_with_the_fifth_attempt_and_costs_the_four_before(ledger, settings, bench):
    job_id = submitted(ledger, settings, LANES)
    released = admit(ledger, job_id).released
    worker = bench(*[AWAY] * OUTAGES_TO_OPEN)
    for one in released:
        process(worker, one)
    charged = [("requeued", AWAY, True)] * (OUTAGES_TO_OPEN - 1)
    assert attempts(ledger) == [*charged, ("requeued", AWAY, False)]
    assert gate(ledger)[:2] == (AWAY, OUTAGES_TO_OPEN)
    check(ledger, job_id)


def test_an_outage_never_fails_a_document_among_others(ledger, settings, bench, tick, come):
    job_id = submitted(ledger, settings, 3)
    worker = bench(*[AWAY] * (OUTAGES_TO_OPEN + 8))
    for released in admit(ledger, job_id).released:
        process(worker, released)
    for _ in range(OUTAGES_TO_OPEN + 8):
        come("items", "available_at")
        come("gates", "probe_at")
        for released in tick():
            work_off(worker, released)
    assert {item(ledger, job_id, position).state for position in range(3)} == {"succeeded"}
    assert value(ledger, "SELECT sum(charged) FROM items") == OUTAGES_TO_OPEN - 1
    assert gate(ledger) == (None, 0, 0, 0, None)


def test_one_document_on_which_the_provider_always_breaks_fails_and_holds_up_nobody(
    ledger, settings, bench, tick, come
):
    job_id = submitted(ledger, settings, 1)
    [released] = admit(ledger, job_id).released
    for _ in range(OUTAGES_TO_OPEN - 1):
        process(bench(AWAY), released)
        come("items", "available_at")
        [released] = tick()
    process(bench(AWAY), released)
    assert (item(ledger, job_id).state, item(ledger, job_id).error_code) == ("failed", AWAY)
    assert gate(ledger).opened_for is None


def test_probes_take_turns_among_the_jobs(ledger, opened, settings, bench, tick, come):
    job_id, others = opened()
    other = submitted(ledger, settings, 2)
    admit(ledger, other)
    for released in others:
        process(bench(), released)
    probed = []
    for _ in range(4):
        come("gates", "probe_at")
        (probe,) = tick()
        probed.append(probe.job_id)
        process(bench("provider_auth"), probe)
    assert probed == [job_id, other, job_id, other]


def test_a_success_in_between_ends_the_run_of_outages_and_a_document_may_fail(ledger, settings, bench, come):
    job_id = submitted(ledger, settings, 1 + OUTAGES_TO_OPEN, concurrency=1)
    [released] = admit(ledger, job_id).released
    for number in range(OUTAGES_TO_OPEN):
        done = process(bench(AWAY), released)
        assert done.next.position == number + 1
        come("items", "available_at")
        released = process(bench(), done.next).next
    assert (item(ledger, job_id).state, item(ledger, job_id).error_code) == ("failed", AWAY)
    assert gate(ledger) == (None, 0, 0, 0, None)


def test_three_rejections_in_a_row_fail_their_documents_and_spare_the_fourth(ledger, settings, bench, tick):
    job_id = submitted(ledger, settings, 9, concurrency=1)
    [released] = admit(ledger, job_id).released
    done = work_off(bench(*["provider_rejected"] * 9), released)
    assert len(done) == REJECTIONS_TO_OPEN
    codes = rows(ledger, "SELECT error_code, count(*) FROM items GROUP BY 1 ORDER BY 1 NULLS LAST")
    assert codes == [("provider_rejected", 3), (None, 6)]
    assert gate(ledger).opened_for == "provider_rejected"
    assert tick() == []
    check(ledger, job_id)


def test_a_probe_is_one_document_and_its_success_lets_all_others_follow(ledger, opened, bench, tick, come):
    job_id, others = opened()
    come("gates", "probe_at")
    (probe,) = tick()
    assert tick() == []
    for released in others:
        assert not process(bench(), released).settled
    done = process(bench(), probe)
    assert done.next is not None
    assert gate(ledger) == (None, 0, 0, 0, None)
    lanes = [done.next, *tick()]
    assert len(lanes) == LANES
    for released in lanes:
        work_off(bench(), released)
    assert value(ledger, "SELECT succeeded FROM jobs") == 20
    check(ledger, job_id)


def test_a_probe_that_fails_costs_nothing_and_the_next_comes_after_twice_the_time(ledger, opened, bench, tick, come):
    job_id, _ = opened(concurrency=1)
    waits = []
    for _ in range(8):
        come("gates", "probe_at")
        (probe,) = tick()
        wait = "SELECT extract(epoch FROM probe_at - clock_timestamp())::float8 FROM gates"
        waits.append(value(ledger, wait) / LEASE)
        assert process(bench("provider_auth"), probe).next is None
    assert waits == [pytest.approx(expected, abs=0.2) for expected in (0.5, 1, 2, 4, 8, 15, 15, 15)]
    assert attempts(ledger) == [("requeued", "provider_auth", False)] * 9
    assert (gate(ledger).opened_for, gate(ledger).probes) == ("provider_auth", 8)
    check(ledger, job_id)


def test_a_rate_limit_in_a_probe_pauses_the_gate_and_no_probe_is_sent_before_its_end(opened, bench, tick, come):
    opened()
    come("gates", "probe_at")
    (probe,) = tick()
    process(bench("rate_limited"), probe)
    come("gates", "probe_at")
    assert tick() == []
    come("gates", "paused_until")
    assert len(tick()) == 1


def test_the_document_of_a_lost_probe_runs_alone_and_may_be_the_next_probe(ledger, opened, bench, tick, come):
    job_id, _ = opened(concurrency=1)
    come("gates", "probe_at")
    (probe,) = tick()

    assert stage._start(bench(), probe) is not None
    update(ledger, "items", "lease_until = clock_timestamp() - interval '1 second'", "state = 'running'")
    assert tick() == []
    come("gates", "probe_at")
    (probe,) = tick()
    assert probe.alone
    assert len(work_off(bench(), probe)) == 20
    assert gate(ledger).opened_for is None
    check(ledger, job_id)


def test_the_message_of_a_probe_that_another_followed_gives_its_lane_back(ledger, opened, bench, tick, come):
    job_id, others = opened()
    for released in others:
        process(bench(), released)
    probes = []
    for _ in range(2):
        come("gates", "probe_at")
        probes += tick()
    first, second = probes
    assert not process(bench(), first).settled
    assert item(ledger, job_id, first.position).state == "pending"
    assert process(bench(), second).settled
    assert gate(ledger).opened_for is None


def test_where_the_probes_job_is_cancelled_another_jobs_document_is_next(ledger, opened, settings, bench, tick, come):
    job_id, _ = opened()
    other = submitted(ledger, settings, 2)
    assert admit(ledger, other).released == ()
    come("gates", "probe_at")
    (probe,) = tick()
    assert probe.job_id == job_id
    cancel(ledger, job_id)
    assert not process(bench(), probe).settled
    come("gates", "probe_at")
    (probe,) = tick()
    assert probe.job_id == other
    assert len(work_off(bench(), probe)) == 2
    assert gate(ledger).opened_for is None


def test_without_a_document_to_try_the_probe_waits_for_one(ledger, settings, opened, tick, come):
    job_id, _ = opened()
    cancel(ledger, job_id)
    come("gates", "probe_at")
    assert tick() == []
    other = submitted(ledger, settings, 1)
    admit(ledger, other)
    (probe,) = tick()
    assert probe.job_id == other


def test_two_profiles_do_not_disturb_each_other(ledger, opened, settings, bench):
    opened()
    other = submitted(ledger, settings, 12, profile="other")
    for released in admit(ledger, other).released:
        work_off(bench(), released)
    assert value(ledger, "SELECT succeeded FROM jobs WHERE job_id = %s", other) == 12
    assert gate(ledger).opened_for == "provider_auth"
    assert gate(ledger, "other") is None


def test_20_000_documents_before_an_open_breaker_cost_no_attempt_and_a_message_a_lane(
    ledger, opened, bench, tick, come
):
    job_id, others = opened()
    with ledger.transaction() as tx:
        for table, keys in (("items", "'position', n, 'document_id', n"), ("texts", "'position', n")):
            tx.exec_driver_sql(
                f"INSERT INTO {table} SELECT (jsonb_populate_record(last, jsonb_build_object({keys}))).* "
                f"FROM {table} AS last, generate_series(20, 20019) AS n WHERE last.position = 19"
            )
        tx.exec_driver_sql("UPDATE jobs SET pending = pending + 20000, total = total + 20000")
    messages = list(others)
    for released in others:
        assert not process(bench(), released).settled
    for _ in range(20):
        messages += tick()
    for _ in range(3):
        come("gates", "probe_at")
        for probe in tick():
            messages.append(probe)
            process(bench("provider_auth"), probe)
    assert len(messages) == LANES - 1 + 3
    assert attempts(ledger) == [("requeued", "provider_auth", False)] * (1 + 3)
    assert value(ledger, "SELECT pending FROM jobs") == 20_020
    assert len([*tick(), *(resume(ledger, "extractive") and tick())]) == LANES
    check(ledger, job_id)


def test_resume_lets_everything_go_on_at_once_and_says_when_there_was_nothing(ledger, opened, bench, tick):
    job_id, others = opened()
    for released in others:
        process(bench(), released)
    update(ledger, "gates", "paused_until = clock_timestamp() + interval '1 hour', error_code = 'rate_limited'", "true")
    assert resume(ledger, "extractive")
    assert gate(ledger) == (None, 0, 0, 0, None)
    assert not resume(ledger, "extractive")
    assert not resume(ledger, "other")
    lanes = tick()
    assert {one.position for one in lanes} == set(range(LANES))
    for released in lanes:
        work_off(bench(), released)
    assert value(ledger, "SELECT succeeded FROM jobs") == 20
    check(ledger, job_id)


def test_an_open_breaker_shows_in_the_jobs_view_and_in_doctor(ledger, opened, database, bench, tick):
    job_id, others = opened()
    for released in others:
        process(bench(), released)
    tick()
    with ledger.statement() as tx:
        waiting = views.job(tx, job_id, LEASE).waiting_for
    assert "its breaker is open since" in waiting
    assert "provider_auth" in waiting
    assert "`callfold resume extractive`" in waiting
    (finding,) = [one for one in doctor(database) if one["part"] == "gate extractive"]
    assert not finding["ok"]
    assert "provider_auth" in finding["state"]
    assert "key" in finding["to_do"]
    resume(ledger, "extractive")
    assert not [one for one in doctor(database) if one["part"].startswith("gate")]


def test_the_command_resumes_a_profile_and_says_so(opened, database):
    opened()
    assert callfold(database, "resume", "extractive").startswith("extractive goes on")
    assert callfold(database, "resume", "extractive").startswith("nothing to resume")


def doctor(database):
    return json.loads(callfold(database, "doctor", "--json"))


def callfold(database, *arguments):
    """What a command says, in a process of its own."""
    program = [sys.executable, "-c", "from pipeline.cli.main import app; app()", *arguments]
    return subprocess.run(
        program, env=os.environ | {"DATABASE_URL": database}, capture_output=True, text=True, check=False
    ).stdout


def test_patience_with_a_rate_limit_does_not_count_the_night_before_an_open_breaker(
    ledger, settings, bench, tick, come
):
    job_id = submitted(ledger, settings, 1)
    [released] = admit(ledger, job_id).released
    process(bench("rate_limited"), released)
    update(ledger, "attempts", "ended_at = ended_at - interval '9 hours'", "true")
    come("gates", "paused_until")
    [released] = tick()
    process(bench("quota_exhausted"), released)
    assert resume(ledger, "extractive")
    [released] = tick()
    process(bench("rate_limited"), released)
    assert item(ledger, job_id).state == "pending"
    come("gates", "paused_until")
    [released] = tick()
    update(ledger, "gates", "closed_at = closed_at - interval '9 hours'", "true")
    update(ledger, "attempts", "ended_at = ended_at - interval '2 hours'", "number = 3")
    process(bench("rate_limited"), released)
    assert (item(ledger, job_id).state, item(ledger, job_id).error_code) == ("failed", "rate_limited")
    assert gate(ledger).paused_until is not None, "the others still wait"
