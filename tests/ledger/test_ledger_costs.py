"""What calls cost, and for what: useful, retried, invalid, lost. What nobody told is unknown, never zero."""

import json
from uuid import uuid4

import pytest
from ledger_rows import insert, new_job, rows, update, value

from pipeline.ledger import budgets, costs, views
from pipeline.settings import Prices

#: In dollars for a million tokens: a token in is a micro-dollar, a cached one half, one out two.
PRICES = Prices(input=1.0, cached_input=0.5, output=2.0)
MICRO = 0.000001


def asked(step="summary", chunk=0, code=None, took=(100, 10), cached=None, reserved=150, *, ended=True):
    """A call as the ledger has it; `took` None: it told nothing."""
    told = (None, None) if took is None else took
    cost = None if took is None else MICRO * (took[0] - (cached or 0) * 0.5 + 2 * took[1])
    return {
        "step": step,
        "chunk": chunk,
        "error_code": code,
        "input_tokens": told[0],
        "output_tokens": told[1],
        "cached_tokens": cached,
        "cost_usd": cost,
        "reserved_tokens": reserved,
        "reserved_usd": None if reserved is None else reserved * MICRO,
        "latency_seconds": 0.5 if ended else None,
    }


def history(ledger, kind, *earlier, last=()):
    """The job of one document that is of this kind: its last attempt's calls, and those of earlier attempts."""
    job_id = new_job(ledger, [kind])
    update(ledger, "attempts", "number = 9", "job_id = %(job)s", job=job_id)
    with ledger.transaction() as tx:
        row = dict(tx.exec_driver_sql("SELECT * FROM attempts WHERE job_id = %s", (job_id,)).mappings().one())
        for number, calls in enumerate(earlier, 1):
            other = {"attempt_id": uuid4(), "number": number, "outcome": "lost", "ended_at": row["started_at"]}
            no_result = {"summary": None, "actions": None, "warnings": None, "result_hash": None}
            insert(tx, "attempts", row | other | no_result)
            add(tx, other["attempt_id"], calls)
        add(tx, row["attempt_id"], last)
    return job_id


def add(tx, attempt_id, calls):
    for sequence, one in enumerate(calls, 1):
        insert(tx, "calls", {"attempt_id": attempt_id, "sequence": sequence, **one})


def shares(ledger, job_id, prices=PRICES):
    """By cause: calls, tokens in and out, micro-dollars, unknown calls and what they had reserved."""
    with ledger.statement() as tx:
        found = costs.by_cause(tx, job_id, prices)
    return {
        one.cause: (
            one.calls,
            one.input_tokens,
            one.output_tokens,
            None if one.cost_usd is None else round(one.cost_usd / MICRO),
            one.unknown_calls,
            one.unknown_tokens,
        )
        for one in found
    }


ONE = (1, 100, 10, 120, 0, 0)
#: What happened: kind of document, calls of earlier attempts, of the last one | what each cause has.
CASES = {
    "a success is useful": ("succeeded", [], [asked()], {"useful": ONE}),
    "so is one of a document that is not final": ("waiting", [], [asked()], {"useful": ONE}),
    "but not of one without a result": ("failed", [], [asked()], {"lost": ONE}),
    "two chunks are two calls": (
        "succeeded",
        [],
        [asked(chunk=0), asked(chunk=1)],
        {"useful": (2, 200, 20, 240, 0, 0)},
    ),
    "an answer that does not hold is invalid, and asked again nothing is retried": (
        "succeeded",
        [],
        [asked(code="invalid_output"), asked()],
        {"useful": ONE, "invalid": ONE},
    ),
    "invalid also where the document failed": ("failed", [], [asked(code="refused")], {"invalid": ONE}),
    "a killed call is unknown, and its input was sent again": (
        "succeeded",
        [[asked(took=None, ended=False)]],
        [asked()],
        {"useful": (1, 0, 10, 20, 0, 0), "retried": (0, 100, 0, 100, 0, 0), "lost": (1, 0, 0, None, 1, 150)},
    ),
    "as after a cut stream in the same attempt": (
        "succeeded",
        [],
        [asked(code="provider_unavailable", took=None), asked()],
        {"useful": (1, 0, 10, 20, 0, 0), "retried": (0, 100, 0, 100, 0, 0), "lost": (1, 0, 0, None, 1, 150)},
    ),
    "what was turned away was never read": (
        "succeeded",
        [],
        [asked(code="rate_limited", took=(0, 0)), asked()],
        {"useful": ONE, "lost": (1, 0, 0, 0, 0, 0)},
    ),
    "another step or chunk is no repetition": (
        "succeeded",
        [[asked("map", 1, took=None, ended=False)]],
        [asked("map", 0), asked("actions", 1)],
        {"useful": (2, 200, 20, 240, 0, 0), "lost": (1, 0, 0, None, 1, 150)},
    ),
    "of two answers to the same the last stands": (
        "succeeded",
        [[asked()]],
        [asked(took=(90, 9))],
        {"useful": (1, 0, 9, 18, 0, 0), "retried": (0, 90, 0, 90, 0, 0), "lost": ONE},
    ),
    "an answer stands though a failure follows": (
        "waiting",
        [[asked()]],
        [asked(code="provider_timeout", took=None)],
        {"useful": ONE, "lost": (1, 0, 0, None, 1, 150)},
    ),
    "a call under way is not lost yet": (
        "running",
        [],
        [asked(took=None, ended=False)],
        {"under_way": (1, 0, 0, None, 0, 0)},
    ),
    "what costs nothing is not unknown": (
        "succeeded",
        [],
        [asked(took=None, reserved=None)],
        {"useful": (1, 0, 0, None, 0, 0)},
    ),
    "cached input is part of the input": (
        "succeeded",
        [[asked(took=None, ended=False)]],
        [asked(cached=40)],
        {"useful": (1, 0, 10, 20, 0, 0), "retried": (0, 100, 0, 80, 0, 0), "lost": (1, 0, 0, None, 1, 150)},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_every_call_has_one_cause(ledger, case):
    kind, earlier, last, expected = CASES[case]
    job_id = history(ledger, kind, *earlier, last=last)
    assert shares(ledger, job_id) == expected


@pytest.mark.parametrize("case", CASES)
def test_the_causes_sum_to_what_the_jobs_view_says(ledger, case):
    kind, earlier, last, _ = CASES[case]
    job_id = history(ledger, kind, *earlier, last=last)
    with ledger.statement() as tx:
        found, used = costs.by_cause(tx, job_id, PRICES), views.job(tx, job_id, 60.0).usage
    assert sum(one.input_tokens for one in found) == (used.input_tokens or 0)
    assert sum(one.cached_tokens for one in found) == (used.cached_tokens or 0)
    assert sum(one.output_tokens for one in found) == (used.output_tokens or 0)
    assert sum(one.cost_usd or 0 for one in found) == pytest.approx(used.cost_usd or 0)
    assert sum(one.unknown_calls for one in found) == used.unknown_calls
    assert sum(one.calls for one in found) == value(ledger, "SELECT count(*) FROM calls")


def test_without_prices_the_money_of_input_sent_again_stays_with_its_call(ledger):
    job_id = history(ledger, "succeeded", [asked(took=None, ended=False)], last=[asked()])
    found = shares(ledger, job_id, prices=None)
    assert (found["useful"][3], found["retried"][3]) == (120, None)


def test_a_document_has_its_own_share(ledger):
    job_id = new_job(ledger, ["succeeded", "failed"])
    with ledger.transaction() as tx:
        for (attempt_id,), number in zip(
            rows(tx, "SELECT attempt_id FROM attempts ORDER BY position"), (1, 2), strict=True
        ):
            add(tx, attempt_id, [asked()] * number)
        found = [[(one.cause, one.calls) for one in costs.by_cause(tx, job_id, PRICES, n)] for n in (0, 1)]
    assert found == [[("useful", 1)], [("lost", 2)]]


def test_status_and_show_say_what_was_used_for_what_and_what_is_left(ledger, call):
    job_id = history(ledger, "succeeded", [asked(took=None, ended=False)], last=[asked(cached=40), asked("actions")])
    with ledger.transaction() as tx:
        budgets.give(tx, job_id, 1_000, 0.5)
        tx.exec_driver_sql("UPDATE budgets SET tokens_taken = 370, usd_taken = 0.25")
    status = call("status", job_id).stdout
    assert "used: 200 tokens in (40 of them cached), 20 out, $0.0002; 1 call told nothing\n" in status
    assert "budget: 370 of 1,000 tokens, $0.2500 of $0.5000 taken\n" in status
    assert [line.split()[0] for line in status.splitlines() if line.startswith(("useful", "retried", "lost"))] == [
        "useful",
        "retried",
        "lost",
    ]
    told = json.loads(call("status", job_id, "--json").stdout)
    assert told["budget"] == {"tokens": 1_000, "usd": 0.5, "tokens_taken": 370, "usd_taken": 0.25}
    assert [one["cause"] for one in told["costs"]] == ["useful", "retried", "lost"]
    assert told["usage"]["unknown_calls"] == 1
    shown = call("show", job_id, "doc-0").stdout
    assert "never ended" in shown
    assert "actions" in shown
    document = json.loads(call("show", job_id, "doc-0", "--json").stdout)
    assert [one["usage"]["unknown_calls"] for one in document["attempts"]] == [1, 0]
    assert document["costs"] == told["costs"]


def test_a_running_documents_progress_is_shown(ledger, call):
    job_id = new_job(ledger, ["running", "fresh"])
    update(ledger, "items", "progress = 40", "position = 0")
    assert "running, 40 %" in call("show", job_id).stdout
    assert "running, 40 %" in call("show", job_id, "doc-0").stdout
