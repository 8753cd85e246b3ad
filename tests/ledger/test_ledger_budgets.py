"""A job's budget: reserved before each call, corrected once by what was taken, kept by calls that keep to theirs."""

import socket
from dataclasses import replace
from uuid import uuid4

import pytest
from ledger_bench import Does, work_off
from ledger_rows import check, item, new_job, rows, submitted, update, value

from exports.freeze import freeze
from pipeline.domain.costs import NEVER_READ
from pipeline.domain.results import Usage
from pipeline.errors import InvalidRequest, ItemFailure
from pipeline.ledger import attempts, budgets, jobs, sweeps
from pipeline.ledger.attempts import Call
from pipeline.ledger.budgets import Budget
from pipeline.settings import Prices, Profile
from pipeline.stages import attempt as attempt_stage
from pipeline.stages.admit import admit
from pipeline.stages.amend import amend
from pipeline.stages.cancel import cancel
from pipeline.stages.process import process
from pipeline.stages.reconcile import reconcile
from pipeline.stages.reduce import reduce
from pipeline.summarizers.openai_chat.conditions import CONDITIONS
from pipeline.summarizers.openai_chat.model import Model, Question
from pipeline.summarizers.port import Demand, Origin, Step

STEP, ORIGIN = Step("summary"), Origin("0" * 64, "1", "m", "{}")
WAIT = """
SELECT extract(epoch FROM items.available_at - attempts.ended_at)::float8 FROM items JOIN attempts USING (attempt_id)
 WHERE items.job_id = %s AND items.available_at IS NOT NULL
"""
PRICED = Profile(summarizer="openai_chat", model="m", prices=Prices(input=1.0, output=10.0))


@pytest.fixture
def settings(settings, tmp_path):
    return settings.model_copy(update={"profiles": {"priced": PRICED}, "data_dir": tmp_path, "export_dir": tmp_path})


def job_with(door, kinds, tokens=None, usd=None):
    job_id = new_job(door, kinds)
    with door.transaction() as tx:
        budgets.give(tx, job_id, tokens, usd)
    return job_id


def opened(ledger, job_id, position=0, sequence=1, tokens=30, usd=None, attempt_id=None):
    """What becomes of a call of the attempt that holds the item."""
    holder = "SELECT attempt_id FROM items WHERE job_id = %s AND position = %s"
    attempt_id = attempt_id or value(ledger, holder, job_id, position)
    call = Call(sequence, "summary", None, 0.0, reserved_tokens=tokens, reserved_usd=usd)
    with ledger.transaction() as tx:
        return budgets.open_call(tx, job_id, position, attempt_id, call)


def ended(ledger, job_id, position=0, sequence=1, **fields):
    holder = "SELECT attempt_id FROM items WHERE job_id = %s AND position = %s"
    call = replace(Call(sequence, "summary", 0.5, 0.0), **fields)
    with ledger.transaction() as tx:
        attempts.record_calls(tx, value(ledger, holder, job_id, position), [call])


def budget(ledger, job_id):
    with ledger.statement() as tx:
        return budgets.of_job(tx, job_id)


def test_of_many_calls_at_once_as_many_are_opened_as_the_budget_holds(ledger, together):
    job_id = job_with(ledger, ["running"] * 16, tokens=1_000)

    def ask(position):
        return [opened(ledger, job_id, position, sequence) for sequence in range(1, 5)]

    found = [one for each in together(*[lambda n=n: ask(n) for n in range(16)]) for one in each]
    assert sorted(set(found)) == ["later", "opened"]
    assert found.count("opened") == 1_000 // 30
    assert budget(ledger, job_id) == Budget(1_000, None, 30 * (1_000 // 30), 0.0)


def test_calls_that_give_back_let_others_in_and_never_is_more_taken_than_there_is(ledger, together):
    """Each call reserves 30 tokens and takes 10: three times as many fit as were reserved at once."""
    job_id, seen = job_with(ledger, ["running"] * 8, tokens=300, usd=0.03), []

    def work(position):
        answers = []
        for sequence in range(1, 6):
            answers.append(opened(ledger, job_id, position, sequence, usd=0.003))
            seen.append(budget(ledger, job_id))
            if answers[-1] == "opened":
                ended(ledger, job_id, position, sequence, input_tokens=6, output_tokens=4, cost_usd=0.001)
        return answers

    found = [one for each in together(*[lambda n=n: work(n) for n in range(8)]) for one in each]
    assert max(one.tokens_taken for one in seen) <= 300
    assert max(one.usd_taken for one in seen) <= 0.03
    taken = budget(ledger, job_id)
    assert taken.tokens_taken == 10 * found.count("opened")
    assert taken.usd_taken == pytest.approx(0.001 * found.count("opened"))
    assert found.count("opened") > 10


def test_what_a_call_took_is_booked_once_however_often_it_is_told(ledger):
    job_id = job_with(ledger, ["running"], tokens=100)
    assert [opened(ledger, job_id), opened(ledger, job_id)] == ["opened", "opened"]  # sent again: its own row
    assert budget(ledger, job_id).tokens_taken == 30
    for _ in range(2):
        ended(ledger, job_id, input_tokens=10, output_tokens=5)
    ended(ledger, job_id, input_tokens=1, output_tokens=1)
    assert budget(ledger, job_id).tokens_taken == 15


def test_a_call_sent_again_stands_also_where_the_budget_is_full_meanwhile(ledger):
    job_id = job_with(ledger, ["running", "running"], tokens=60)
    assert [opened(ledger, job_id), opened(ledger, job_id, 1), opened(ledger, job_id)] == ["opened"] * 3
    assert budget(ledger, job_id).tokens_taken == 60


def test_usage_that_nobody_told_keeps_its_reservation_and_so_does_a_killed_call(ledger):
    job_id = job_with(ledger, ["running", "running"], tokens=100, usd=1.0)
    opened(ledger, job_id, usd=0.3)
    ended(ledger, job_id, error_code="provider_timeout")
    opened(ledger, job_id, 1, usd=0.3)
    assert opened(ledger, job_id, 0, sequence=2, tokens=50, usd=0.3) == "later"
    update(ledger, "attempts", "outcome = 'lost', ended_at = now()", "position = 1")
    assert opened(ledger, job_id, 0, sequence=2, tokens=50, usd=0.3) == "spent"
    assert budget(ledger, job_id) == Budget(100, 1.0, 60, 0.6)


def test_a_call_of_whoever_does_not_hold_the_item_is_refused_and_takes_nothing(ledger):
    job_id = job_with(ledger, ["running", "running", "suspect", "running"], tokens=100)
    assert opened(ledger, job_id, attempt_id=uuid4()) == "overtaken"
    with ledger.transaction() as tx:
        sweeps.failed_by_operator(tx, jobs.lock(tx, job_id), 1)
    assert opened(ledger, job_id, 1) == "overtaken"
    assert opened(ledger, job_id, 2) == "opened"  # its settle still counts
    update(ledger, "jobs", "expires_at = created_at + interval '1 s'", "job_id = %(job)s", job=job_id)
    assert opened(ledger, job_id, 3) == "overtaken"
    assert budget(ledger, job_id).tokens_taken == 30


def asks(*demands, takes=None, code=None, condition=None):
    """A document whose calls make these demands, in tokens of input."""

    def do(_request, attempt):
        for number, tokens in enumerate(demands):
            with attempt.call(Step("map", number), Demand(tokens, 0)) as call:
                call.condition = condition
                if takes is not None:
                    call.usage = Usage(input_tokens=takes, output_tokens=0)
                if code is not None:
                    raise ItemFailure(code, "our own sentence")

    return Does(do)


def test_a_spent_budget_skips_the_document_and_those_that_follow(ledger, settings, bench):
    job_id = submitted(ledger, settings, 3, budget_tokens=100, concurrency=1)
    work_off(bench(summarizer=asks(60, takes=60)), admit(ledger, job_id).released[0])
    found = rows(ledger, "SELECT state, error_code FROM items WHERE job_id = %s ORDER BY position", job_id)
    assert found == [("succeeded", None), ("skipped", "budget_exhausted"), ("skipped", "budget_exhausted")]
    assert budget(ledger, job_id).tokens_taken == 60
    check(ledger, job_id)


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_call_costs_nothing_only_where_it_was_turned_away_unread(ledger, settings, bench, condition):
    job_id = submitted(ledger, settings, 1, budget_tokens=100)
    fails = asks(60, code=CONDITIONS[condition][0], condition=condition)
    process(bench(summarizer=fails), admit(ledger, job_id).released[0])
    assert budget(ledger, job_id).tokens_taken == (0 if condition in NEVER_READ else 60)


def test_what_was_never_read_are_conditions_of_a_provider():
    assert CONDITIONS.keys() > NEVER_READ
    assert not NEVER_READ & {"provider_connection", "stream_incomplete", "provider_timeout", "provider_server_error"}


def test_an_outage_takes_nothing_of_a_jobs_budget(ledger, settings, bench):
    """Nobody listens there: nothing was ever sent."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        model = Model(Profile(summarizer="openai_chat", model="m", base_url=address))

        def do(_request, attempt):
            with attempt.call(STEP, Demand(60, 10)) as call:
                model.ask(Question(({"role": "user", "content": "Why?"},), 10), call)

        job_id = submitted(ledger, settings, 1, budget_tokens=100)
        process(bench(summarizer=Does(do)), admit(ledger, job_id).released[0])
    assert value(ledger, "SELECT error_code FROM attempts WHERE job_id = %s", job_id) == "provider_unavailable"
    assert budget(ledger, job_id).tokens_taken == 0


def test_a_summarizer_that_costs_nothing_needs_no_budget(ledger, settings, bench):
    job_id = submitted(ledger, settings, 2, budget_tokens=1, concurrency=1)
    work_off(bench(), admit(ledger, job_id).released[0])
    assert {one.state for one in rows(ledger, "SELECT state FROM items WHERE job_id = %s", job_id)} == {"succeeded"}
    assert budget(ledger, job_id).tokens_taken == 0


def test_a_document_waits_uncharged_and_longer_each_time_while_others_hold_the_budget(
    ledger, settings, bench, monkeypatch
):
    monkeypatch.setattr(attempt_stage, "_BUDGET_PAUSES", (0.0, 0.0))
    job_id = submitted(ledger, settings, 2, budget_tokens=100)
    long_one, waiting = admit(ledger, job_id).released
    waits = []

    def meanwhile(_request, attempt):
        if attempt.number == 1 and not waits:
            waits.append(None)
            with attempt.call(STEP, Demand(80, 0)) as call:
                for _ in range(3):
                    try_waiting()
                call.usage = Usage(input_tokens=10, output_tokens=0)
        else:
            with attempt.call(STEP, Demand(80, 0)) as call:
                call.usage = Usage(input_tokens=10, output_tokens=0)

    def try_waiting():
        released = waiting if waits == [None] else next_released()
        process(worker, released)
        waits.append(value(ledger, WAIT, job_id))

    def next_released():
        update(ledger, "items", "available_at = clock_timestamp()", "job_id = %(job)s AND position = 1", job=job_id)
        return next(one.released for one in reconcile(ledger, 60.0, "w") if hasattr(one, "released"))

    worker = bench(summarizer=Does(meanwhile))
    process(worker, long_one)
    assert waits == [None, 1, 2, 4]
    process(worker, next_released())
    assert (item(ledger, job_id, 1).state, item(ledger, job_id, 1).charged) == ("succeeded", 0)
    assert budget(ledger, job_id).tokens_taken == 20
    check(ledger, job_id)


def test_money_is_reserved_and_booked_by_the_profiles_prices(ledger, settings, bench):
    job_id = submitted(ledger, settings, 2, profile="priced", budget_usd=0.00012, concurrency=1)
    work_off(bench(summarizer=asks(100, takes=50)), admit(ledger, job_id).released[0])
    assert budget(ledger, job_id).usd_taken == pytest.approx(0.00005)
    assert [item(ledger, job_id, n).error_code for n in (0, 1)] == [None, "budget_exhausted"]


def test_a_budget_in_money_is_refused_where_nobody_knows_the_price(ledger, settings):
    with pytest.raises(InvalidRequest, match="give profile 'extractive' its `prices` in CALLFOLD_PROFILES"):
        submitted(ledger, settings, 1, budget_usd=1.0)
    job_id = frozen(ledger, settings, submitted(ledger, settings, 1))
    with pytest.raises(InvalidRequest, match="`prices`"):
        amend(ledger, settings, job_id, changes={"budget_usd": 1.0})


@pytest.mark.parametrize(
    "wrong", [{"budget_tokens": 0}, {"budget_tokens": 1.5}, {"budget_usd": 0}, {"budget_usd": float("inf")}]
)
def test_a_budget_of_nothing_or_without_end_is_refused(ledger, settings, wrong):
    with pytest.raises(InvalidRequest, match=f"option {next(iter(wrong))}"):
        submitted(ledger, settings, 1, profile="priced", **wrong)


def test_a_call_of_a_cancelled_job_is_not_sent_and_its_document_is_skipped(ledger, settings, bench):
    job_id, sent = submitted(ledger, settings, 1, budget_tokens=100), []

    def do(_request, attempt):
        for number in range(3):
            with attempt.call(Step("map", number), Demand(10, 0)) as call:
                sent.append(number)
                call.usage = Usage(input_tokens=10, output_tokens=0)
            cancel(ledger, job_id)

    process(bench(summarizer=Does(do)), admit(ledger, job_id).released[0])
    assert sent == [0]
    assert (item(ledger, job_id).state, item(ledger, job_id).error_code) == ("skipped", "cancelled")
    assert budget(ledger, job_id).tokens_taken == 10
    check(ledger, job_id)


def test_a_document_whose_last_call_it_was_still_succeeds_in_a_cancelled_job(ledger, settings, bench):
    job_id = submitted(ledger, settings, 1)

    def do(_request, attempt):
        with attempt.call(STEP, Demand(10, 0)):
            cancel(ledger, job_id)

    process(bench(summarizer=Does(do)), admit(ledger, job_id).released[0])
    assert item(ledger, job_id).state == "succeeded"


def test_a_worker_without_prices_makes_no_call_for_a_budget_in_money_and_says_so_once(ledger, settings, bench):
    """Whoever submitted knew the prices, and this worker's own settings have none."""
    job_id, sent = submitted(ledger, settings, 1, profile="priced", budget_usd=1.0), []

    def do(_request, attempt):
        with attempt.call(STEP, Demand(10, 0)):
            sent.append(attempt.number)

    worker = bench(summarizer=Does(do))
    unpriced = worker.settings.model_copy(update={"profiles": {"priced": Profile()}})
    process(replace(worker, settings=unpriced), admit(ledger, job_id).released[0])
    assert sent == []
    (row,) = rows(ledger, "SELECT state, error_code, error_detail FROM items WHERE job_id = %s", job_id)
    assert (row.state, row.error_code) == ("skipped", "budget_exhausted")
    assert "no prices" in row.error_detail
    check(ledger, job_id)


def test_a_call_without_a_price_takes_tokens_where_the_budget_has_no_money(ledger):
    job_id = job_with(ledger, ["running"], tokens=100)
    assert opened(ledger, job_id, usd=None) == "opened"
    assert opened(ledger, job_with(ledger, ["running"], tokens=100, usd=1.0), usd=None) == "unpriced"


def parts_of(number, asked):
    """A long call in so many parts of 60 tokens: each that has no text yet is asked for."""

    def do(_request, attempt):
        for part in range(number):
            text = attempt.writing(Step("map", part), ORIGIN)
            if text.done:
                continue
            with attempt.call(Step("map", part), Demand(60, 0)) as call:
                asked.append(part)
                call.usage = Usage(input_tokens=60, output_tokens=0)
            text.add(f"Part {part}.")
            text.finish(part)

    return Does(do)


def test_a_long_call_that_spent_the_budget_goes_on_in_the_successor_without_paying_its_parts_again(
    ledger, settings, bench
):
    asked = []
    worker = bench(summarizer=parts_of(5, asked))
    job_id = submitted(ledger, settings, 1, budget_tokens=130)
    work_off(worker, admit(ledger, job_id).released[0])
    assert (item(ledger, job_id).error_code, asked) == ("budget_exhausted", [0, 1])
    freeze_after(ledger, settings, job_id)
    second = amend(ledger, settings, job_id, ["budget_exhausted"], {"budget_tokens": 70}).job_id
    work_off(worker, admit(ledger, second).released[0])
    assert (item(ledger, second).error_code, asked) == ("budget_exhausted", [0, 1, 2])
    freeze_after(ledger, settings, second)
    third = amend(ledger, settings, second, changes={"budget_tokens": 1_000}).job_id
    work_off(worker, admit(ledger, third).released[0])
    assert (item(ledger, third).state, asked) == ("succeeded", [0, 1, 2, 3, 4])
    assert rows(ledger, "SELECT text FROM checkpoints") == []
    for one in (job_id, second, third):
        check(ledger, one)


def test_what_a_retry_carries_over_keeps_its_parts_for_the_next_one(ledger, settings, bench):
    """The first retry is about the other document alone."""
    asked = []
    parts = parts_of(3, asked)

    def do(request, attempt):
        if request.fields.document_id == "doc-1":
            raise ItemFailure("not_a_call", "our own sentence")
        parts.do(request, attempt)

    worker, job_id = bench(summarizer=Does(do)), submitted(ledger, settings, 2, budget_tokens=130, concurrency=1)
    work_off(worker, admit(ledger, job_id).released[0])
    freeze_after(ledger, settings, job_id)
    second = amend(ledger, settings, job_id, ["not_a_call"]).job_id
    work_off(worker, admit(ledger, second).released[0])
    freeze_after(ledger, settings, second)
    third = amend(ledger, settings, second, ["budget_exhausted"], {"budget_tokens": 1_000}).job_id
    work_off(worker, admit(ledger, third).released[0])
    assert (item(ledger, third).state, asked) == ("succeeded", [0, 1, 2])


def test_a_successor_goes_on_with_a_budget_of_its_own(ledger, settings, bench):
    job_id = submitted(ledger, settings, 2, budget_tokens=100, concurrency=1)
    worker = bench(summarizer=asks(60, takes=60))
    work_off(worker, admit(ledger, job_id).released[0])
    freeze_after(ledger, settings, job_id)
    successor = amend(ledger, settings, job_id, ["budget_exhausted"], {"budget_tokens": 200}).job_id
    work_off(worker, admit(ledger, successor).released[0])
    assert [item(ledger, successor, n).state for n in (0, 1)] == ["succeeded", "succeeded"]
    assert budget(ledger, job_id) == Budget(100, None, 60, 0.0)
    assert budget(ledger, successor) == Budget(200, None, 60, 0.0)


def frozen(ledger, settings, job_id):
    failed = "state = 'failed', error_code = 'not_a_call', finished_at = now()"
    update(ledger, "items", failed, "job_id = %(job)s", job=job_id)
    update(ledger, "jobs", "pending = 0, failed = 1, state = 'running'", "job_id = %(job)s", job=job_id)
    return freeze_after(ledger, settings, job_id)


def freeze_after(ledger, settings, job_id):
    reduce(ledger, job_id)
    freeze(ledger, settings.exports, job_id)
    return job_id
