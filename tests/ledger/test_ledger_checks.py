"""Closed world: of every combination of state and column, the tables take exactly what the rules allow."""

from itertools import product

import pytest
from ledger_rows import KINDS, new_job, update
from sqlalchemy import CheckConstraint
from sqlalchemy.exc import IntegrityError

from pipeline.domain.lifecycle import ITEM_STATES, JOB_STATES, OPEN, TERMINAL
from pipeline.errors import LedgerError
from pipeline.ledger.schema import metadata

HELD = {"released", "running"}

#: For each column that hangs on the item's state: the values to try, and in which states each may stand.
ITEM_COLUMNS = {
    "lane": {"NULL": set(ITEM_STATES) - HELD, "0": HELD, "-1": set()},
    "dispatch_id": {"NULL": set(ITEM_STATES) - HELD, "gen_random_uuid()": HELD},
    "lease_until": {"NULL": set(ITEM_STATES) - {"running"}, "now()": {"running"}},
    "attempt_until": {"NULL": set(ITEM_STATES) - {"running"}, "now()": {"running"}},
    "available_at": {"NULL": set(ITEM_STATES), "now()": {"pending"}},
    "progress": {"0": set(ITEM_STATES) - {"succeeded"}, "100": {"succeeded"}, "101": set(), "-1": set()},
    "finished_at": {"NULL": OPEN, "now()": TERMINAL},
    "error_code": {"NULL": set(OPEN) | {"succeeded"}, "'not_a_call'": {"failed", "skipped"}},
    "suspect": {"false": set(ITEM_STATES), "true": {"pending", "released"}},
}

#: One kind of each state that has been tried once, so that only the column at hand can be wrong.
TRIED = {
    "pending": "waiting",
    "released": "suspect, released again",
    "running": "running",
    "succeeded": "succeeded",
    "failed": "failed",
    "skipped": "skipped",
}

#: Where the state does not matter: a change that is refused in a job with one item of that kind.
REFUSED_ITEMS = {
    "a state that is none": ("fresh", "state = 'paused'"),
    "an attempt that does not exist counts": ("fresh", "attempt_count = 1"),
    "an attempt that exists does not count": ("waiting", "attempt_count = 0, charged = 0"),
    "more is charged than was tried": ("waiting", "charged = 2"),
    "less than nothing is charged": ("waiting", "charged = -1"),
    "more losses alone than attempts": ("running alone", "losses_alone = 2"),
    "a loss alone of what never ran alone": ("running", "losses_alone = 1"),
    "a carried row that is open": ("fresh", "carried = true"),
    "suspicion of what was never tried": ("fresh", "suspect = true"),
    "running without an attempt": ("running", "attempt_count = 0, attempt_id = NULL"),
    "succeeded without an attempt": ("succeeded", "attempt_count = 0, attempt_id = NULL"),
    "a detail without a code": ("fresh", "error_detail = 'why'"),
    "a position below zero": ("fresh", "position = -1"),
    "an empty document id": ("fresh", "document_id = ''"),
    "a document id of 513 characters": ("fresh", "document_id = repeat('x', 513)"),
    "a hash that is none": ("fresh", "source_sha256 = 'abc'"),
    "an item of no job": ("fresh", "job_id = gen_random_uuid()"),
}

REFUSED_JOBS = {
    "a count too low": ("running", "total = total + 1"),
    "a count below zero": ("running", "pending = pending + 2, failed = failed - 2"),
    "no documents at all": ("running", "total = 0, pending = 0, failed = 0"),
    "accepted with a running document": ("accepted", "pending = 0, running = 1"),
    "accepted with a success": ("accepted", "pending = 0, succeeded = 1"),
    "amended and still its own root": ("accepted", "predecessor = gen_random_uuid(), export_version = 2"),
    "amended and still the first version": (
        "accepted",
        "predecessor = gen_random_uuid(), root_job_id = gen_random_uuid()",
    ),
    "delivered before it is frozen": ("running", "deliver_to = 'file:///x', delivered_at = now()"),
    "completed with an open document": ("completed", "pending = 1, failed = failed - 1"),
    "completed without a reduction": ("completed", "reduce_id = NULL"),
    "completed without a count of merged rows": ("completed", "merged_rows = NULL"),
    "reduced while it runs": ("running", "reduce_id = gen_random_uuid()"),
    "merged rows while it runs": ("running", "merged_rows = 0"),
    "ended while it runs": ("running", "ended_at = now()"),
    "cancelled and never ended": ("cancelled", "ended_at = NULL"),
    "frozen while it runs": ("running", "frozen_at = now()"),
    "frozen with an open document": ("cancelled", "frozen_at = now()"),
    "a deadline before its birth": ("running", "expires_at = created_at"),
    "no lane": ("running", "concurrency = 0"),
    "too many lanes": ("running", "concurrency = 1001"),
    "no attempt": ("running", "max_attempts = 0"),
    "too many attempts": ("running", "max_attempts = 101"),
    "version nought": ("running", "version = 0"),
    "export version nought": ("running", "export_version = 0"),
    "a rule that is none": ("running", "require = 'most'"),
    "a state that is none": ("running", "state = 'paused'"),
}

REFUSED_ATTEMPTS = {
    "number nought": "number = 0",
    "an outcome that is none": "outcome = 'won', ended_at = now()",
    "an outcome without an end": "outcome = 'failed'",
    "an end without an outcome": "ended_at = now()",
    "a success without a result": "outcome = 'succeeded', ended_at = now()",
    "a result without its summary": "result_hash = 'x', actions = '[]'",
    "a result without its actions": "result_hash = 'x', summary = 'x'",
    "actions without a result": "actions = '[]'",
    "an attempt at no item": "position = 99",
}

REFUSED_ROWS = {
    "idempotency_keys_digest": "idempotency_keys VALUES ('w', 'k', 'short', gen_random_uuid())",
    "idempotency_keys_key_length": "idempotency_keys VALUES ('w', '', repeat('0', 64), gen_random_uuid())",
    "exports_sha256": "exports VALUES (gen_random_uuid(), %(job)s, 1, 'short', 1)",
    "exports_row_count": "exports VALUES (gen_random_uuid(), %(job)s, 1, repeat('0', 64), 0)",
    "calls_sequence": "calls VALUES (%(attempt)s, 0, 's', NULL, 1, 1, 1, 1)",
    "calls_latency": "calls VALUES (%(attempt)s, 1, 's', NULL, 1, 1, 1, -1)",
    "calls_began": "calls VALUES (%(attempt)s, 1, 's', NULL, 1, 1, 1, 1, -1)",
    "calls_under_way": "calls (attempt_id, sequence, step) VALUES (%(attempt)s, 1, 's')",
    "calls_chunk": "calls (attempt_id, sequence, step, latency_seconds, chunk) VALUES (%(attempt)s, 1, 's', 1, -1)",
    "calls_reserved": "calls (attempt_id, sequence, step, reserved_tokens) VALUES (%(attempt)s, 1, 's', -1)",
    "checkpoints_input_sha256": "checkpoints VALUES (%(job)s, 0, 's', 0, 'w', 'short', 'v', 'm', '{}', 1, '', false)",
    "budgets_limit": "budgets (job_id) VALUES (%(job)s)",
    "receipts_sha256": "receipts VALUES ('w', 'k', gen_random_uuid(), 'file:///x', 'short', now())",
    "receipts_key_length": "receipts VALUES ('w', '', gen_random_uuid(), 'file:///x', repeat('0', 64), now())",
    "notifications_state": "notifications VALUES (%(job)s, 1, 'paused', now(), 0, now())",
    "notifications_tries": "notifications VALUES (%(job)s, 1, 'running', now(), -1, now())",
    "gates_pause": "gates (profile, paused_until) VALUES ('p', now())",
    "gates_breaker": "gates (profile, opened_at, probe_at) VALUES ('p', now(), now())",
    "gates_probe": "gates (profile, opened_at, opened_for) VALUES ('p', now(), 'provider_auth')",
    "gates_probe_dispatch": "gates (profile, probe_dispatch_id) VALUES ('p', gen_random_uuid())",
    "gates_runs": "gates (profile, outages) VALUES ('p', -1)",
    "reconciler_one": "reconciler VALUES (2, now(), 'w')",
}


@pytest.fixture
def tx(ledger):
    with ledger.transaction() as opened:
        yield opened


def test_every_column_that_hangs_on_an_items_state_is_held_to_it(tx):
    for state, column in product(ITEM_STATES, ITEM_COLUMNS):
        job_id = new_job(tx, [TRIED[state]])
        for new, states in ITEM_COLUMNS[column].items():
            allowed = state in states
            assert takes(tx, "items", f"{column} = {new}", job_id) == allowed, f"{state} with {column} = {new}"


def test_every_state_of_an_item_is_tried_above():
    assert {KINDS[kind]["state"] for kind in TRIED.values()} == set(ITEM_STATES)


def test_what_no_item_may_be_is_refused(tx):
    for name, (kind, change) in REFUSED_ITEMS.items():
        assert not takes(tx, "items", change, new_job(tx, [kind])), name


def test_what_no_job_may_be_is_refused(tx):
    for name, (state, change) in REFUSED_JOBS.items():
        kinds = ["born failed"] if state == "completed" else ["fresh", "born failed"]
        job_id = new_job(tx, kinds, state=state)
        assert takes(tx, "jobs", "nudges = 1", job_id)
        assert not takes(tx, "jobs", change, job_id), name
    assert {state for state, _ in REFUSED_JOBS.values()} == set(JOB_STATES)


def test_what_no_attempt_may_be_is_refused(tx):
    job_id = new_job(tx, ["running"])
    for name, change in REFUSED_ATTEMPTS.items():
        assert not takes(tx, "attempts", change, job_id), name


@pytest.mark.parametrize("name", REFUSED_ROWS)
def test_what_the_other_tables_may_not_hold_is_refused(tx, name):
    job_id = new_job(tx, ["running"])
    attempt = tx.exec_driver_sql("SELECT attempt_id FROM items WHERE job_id = %s", (job_id,)).scalar_one()
    with pytest.raises(IntegrityError, match=f"{name}_check"):
        tx.exec_driver_sql(f"INSERT INTO {REFUSED_ROWS[name]}", {"job": job_id, "attempt": attempt})


def test_two_items_never_share_a_lane_or_an_id(tx):
    job_id = new_job(tx, ["released", "running"])
    assert not takes(tx, "items", "lane = 0", job_id)
    assert not takes(tx, "items", "document_id = 'same'", job_id)


def test_a_key_and_an_export_version_belong_to_one_job(tx):
    first, second = new_job(tx, ["fresh"]), new_job(tx, ["fresh"])
    assert not takes(tx, "jobs", f"idempotency_key = '{first}'", second)
    assert not takes(tx, "jobs", f"root_job_id = '{first}'", second)


def test_every_check_of_the_schema_is_tried(tx):
    """A rule that nothing above breaks would be a rule that nobody has seen work."""
    tried = {f"{name}_check" for name in REFUSED_ROWS} | broken(tx)
    checks = {
        constraint.name
        for table in metadata.tables.values()
        for constraint in table.constraints
        if isinstance(constraint, CheckConstraint)
    }
    assert checks - tried == set()


def test_a_refused_row_is_named_by_its_constraint_and_never_quoted(ledger):
    job_id = new_job(ledger, ["fresh"])
    with pytest.raises(LedgerError) as refused:
        update(ledger, "items", "document_id = repeat('Jane Doe ', 99)", "job_id = %(job)s", job=job_id)
    assert str(refused.value) == "PostgreSQL refuses: CheckViolation 23514 on items_document_id_check"


def takes(tx, table, change, job_id):
    return refusal(tx, table, change, job_id) is None


def refusal(tx, table, change, job_id):
    """The constraint that refuses the change, None where it is taken; undone in both cases."""
    savepoint = tx.begin_nested()
    try:
        update(tx, table, change, "job_id = %(job)s", job=job_id)
    except IntegrityError as error:
        return error.orig.diag.constraint_name
    finally:
        savepoint.rollback()
    return None


def broken(tx):
    found = set()
    for state, column in product(ITEM_STATES, ITEM_COLUMNS):
        job_id = new_job(tx, [TRIED[state]])
        found |= {refusal(tx, "items", f"{column} = {new}", job_id) for new in ITEM_COLUMNS[column]}
    for kind, change in REFUSED_ITEMS.values():
        found.add(refusal(tx, "items", change, new_job(tx, [kind])))
    for state, change in REFUSED_JOBS.values():
        kinds = ["born failed"] if state == "completed" else ["fresh", "born failed"]
        found.add(refusal(tx, "jobs", change, new_job(tx, kinds, state=state)))
    job_id = new_job(tx, ["running"])
    return found | {refusal(tx, "attempts", change, job_id) for change in REFUSED_ATTEMPTS.values()}
