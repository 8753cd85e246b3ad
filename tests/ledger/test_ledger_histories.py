"""Any history that workers, reconcilers and people may make: the ledger says what the rules alone would say.

The model is `lifecycle.apply` over a handful of items, and `domain.gate` for their provider; the ledger is driven by
the stages' own steps, in any order, by attempts that are long overtaken as well. After every step both agree and
everything holds that `check` asks for.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from ledger_rows import all_items, check, checkpoint, document, insert, rows, update, value

from pipeline.domain import gate
from pipeline.domain.documents import Fault
from pipeline.domain.gate import Gate
from pipeline.domain.lifecycle import (
    TERMINAL,
    Cancel,
    Expire,
    FailByOperator,
    Hold,
    Item,
    Lose,
    Progress,
    Release,
    Start,
    Succeed,
    apply,
)
from pipeline.errors import StaleArrow
from pipeline.ledger import checkpoints, items, jobs
from pipeline.ledger.releases import Released
from pipeline.stages import process, reconcile
from pipeline.stages.admit import admit
from pipeline.stages.cancel import cancel
from pipeline.stages.commands import Process
from pipeline.stages.edit import edit
from pipeline.stages.fail import fail
from pipeline.stages.reduce import reduce
from pipeline.stages.resume import resume
from pipeline.stages.submit import submit
from pipeline.stages.work import work as work_on

FAR = datetime(2099, 1, 1, tzinfo=UTC)
ENDS = st.sampled_from(
    [None] * 3
    + ["not_a_call", "rate_limited", "budget_exhausted", "provider_auth", "provider_rejected"]
    + ["provider_unavailable"] * 2
)
LEASE = 60.0
#: What an event makes of its item, where it is not the state of that name.
TOLD = {"expired": "failed", "requeued": "open", "held": "open", "released": "open"}


def decided(one):
    """Without what the rules leave open: moments, ids, and what the deadline's end was charged or suspected of."""
    one = replace(one, expires_at=FAR, available_at=None, finished_at=None, result_ref=None)
    return replace(one, charged=0, alone=False, losses_alone=0) if one.error_code == "expired" else one


class Histories(RuleBasedStateMachine):
    """One job; `model` has its items, `started` every attempt that ever began, `final` the rows that have ended.

    `gate` is the provider's; what it does to an end is the rules' word as well.
    """

    def __init__(self, ledger, bench):
        super().__init__()
        self.ledger, self.bench = ledger, bench
        self.model, self.started, self.final, self.gate = [], [], {}, Gate()
        self.cancelled = self.expired = self.admitted = self.completed = False

    @initialize(
        bad=st.lists(st.integers(0, 4).map(lambda n: n == 4), min_size=1, max_size=5),
        lanes=st.integers(1, 3),
        tries=st.integers(1, 3),
        at_once=st.integers(0, 3),
        calm=st.integers(0, 8),
        outages=st.integers(0, gate.OUTAGES_TO_OPEN - 1),
    )
    def submit(self, bad, lanes, tries, at_once, calm, outages):
        fault = {"transcript": None, "fault": Fault(code="empty_input", detail="the file is empty")}
        documents = [document(n).model_copy(update=fault if is_bad else {}) for n, is_bad in enumerate(bad)]
        options = {"concurrency": lanes, "max_attempts": tries}
        self.job_id = submit(self.ledger, self.bench.settings, documents, options, str(uuid4())).job_id
        born = {True: {"state": "failed", "error_code": "empty_input"}, False: {"state": "pending"}}
        self.model = [Item(**born[is_bad], expires_at=FAR, max_attempts=tries) for is_bad in bad]
        self.gate = Gate(outages=outages, outage_documents=("others:1", "others:2"))
        with self.ledger.transaction() as tx:
            insert(
                tx, "gates", {"profile": "extractive", "outages": outages, "outage_documents": ["others:1", "others:2"]}
            )
        #: How many attempts begin before the job as a whole may end by a cancel or its deadline.
        self.calm = calm
        if at_once:
            self.admit()

    @precondition(lambda self: not self.admitted)
    @rule()
    def admit(self):
        for released in admit(self.ledger, self.job_id).released:
            self.happened(released.position, Release())
        self.admitted = True

    @precondition(lambda self: self.admitted and self.has("pending"))
    @rule()
    def tick(self):
        """Due retries and free lanes; what it loses or expires has its own rules."""
        update(self.ledger, "items", "available_at = clock_timestamp()", "available_at IS NOT NULL")
        for command in reconcile._open_lanes(self.ledger, LEASE):
            assert not self.gate.opened_at
            self.happened(command.released.position, Release())

    @precondition(lambda self: self.gate.opened_at)
    @rule(number=st.integers(1, 3))
    def probe(self, number):
        """What opens again by itself: one document after the other is let through."""
        for _ in range(number):
            update(self.ledger, "gates", "probe_at = clock_timestamp()", "true")
            for command in reconcile._probe(self.ledger, LEASE):
                self.happened(command.released.position, Release())

    @precondition(lambda self: self.gate.opened_at)
    @rule()
    def resume(self):
        assert resume(self.ledger, "extractive")
        self.gate = Gate()

    @precondition(lambda self: self.has("released"))
    @rule(data=st.data(), stale=st.integers(0, 7).map(lambda n: n == 7))
    def start(self, data, stale):
        position, dispatch_id = data.draw(st.sampled_from(self.of_state("released")))
        started = process._start(self.bench, Released(self.job_id, position, uuid4() if stale else dispatch_id))
        if started is None:
            assert stale or self.cancelled or self.expired or self.gate.opened_at
        else:
            self.started.append(started)
            self.happened(position, Start("w"))
            assert started.number == self.model[position].attempt_count

    @precondition(lambda self: self.has("released"))
    @rule(data=st.data())
    def hold(self, data):
        position, dispatch_id = data.draw(st.sampled_from(self.of_state("released")))
        try:
            with self.ledger.transaction() as tx:
                items.hold(tx, jobs.lock(tx, self.job_id), Released(self.job_id, position, dispatch_id), FAR)
        except StaleArrow:
            assert self.expired
        else:
            self.happened(position, Hold(FAR))

    @precondition(lambda self: self.started)
    @rule(data=st.data(), end=ENDS)
    def settle(self, data, end):
        """Any attempt that ever began reports: once more, late, or in time."""
        self.report(data.draw(st.sampled_from(self.started)), end)

    @precondition(lambda self: self.started)
    @rule(first=ENDS, second=ENDS)
    def settle_twice(self, first, second):
        """A requeue, and the same attempt's word once more."""
        for end in (first or "provider_unavailable", second):
            self.report(self.started[-1], end)

    @precondition(lambda self: self.has("running"))
    @rule(data=st.data(), end=ENDS, started=st.booleans())
    def lose_and_hear_from_it_after_all(self, data, end, started):
        """A lease runs out; its attempt reports before or after the next one has started."""
        self.lose(data)
        self.tick()
        if started and self.has("released"):
            self.start(data, stale=False)
        self.settle(data, end)

    def report(self, started, end):
        self.bench.summarizer("").answers[:] = [end] if end else []
        work = work_on(self.bench, started)
        event, *_ = process._verdict(self.bench, started, work)
        after, event = self.at_the_gate(started, event)
        before = value(self.ledger, "SELECT version FROM jobs WHERE job_id = %s", self.job_id)
        done = process._settle_once(self.bench, started, work, uuid4())
        if value(self.ledger, "SELECT version FROM jobs WHERE job_id = %s", self.job_id) == before:
            assert not self.would_change(started.position, event)
        else:
            self.gate = after
            self.happened(started.position, event)
        if done.next is not None:
            assert not self.gate.opened_at
            self.happened(done.next.position, Release())
        update(self.ledger, "gates", "paused_until = clock_timestamp()", "paused_until IS NOT NULL")

    def at_the_gate(self, started, event):
        """The gate after this end, and the end as an open breaker excuses it."""
        if isinstance(event, Succeed):
            return gate.succeeded(self.gate, started.started_at, datetime.now(UTC)), event
        document, now = f"{started.job_id}:{started.position}", datetime.now(UTC)
        after = gate.failed(self.gate, event.code, document, started.started_at, now, pause=0.0, lease=LEASE)
        excused = replace(event, retryable=True, charged=False)
        return after, excused if gate.excuses(after, event.code) else event

    @precondition(lambda self: self.has("running"))
    @rule(data=st.data())
    def lose(self, data):
        position, _ = data.draw(st.sampled_from(self.of_state("running")))
        past = "lease_until = clock_timestamp() - interval '1 second'"
        update(self.ledger, "items", past, "job_id = %(job)s AND position = %(position)s", **self.at(position))
        for command in reconcile._lose(self.ledger, LEASE):
            assert not isinstance(command, Process)
        self.happened(position, Lose(self.model[position].attempt_count))

    @precondition(lambda self: self.has("running"))
    @rule(data=st.data(), progress=st.integers(0, 99), cursor=st.integers(0, 3))
    def progress(self, data, progress, cursor):
        """Any attempt that ever began says how far it is, by a checkpoint."""
        held = data.draw(st.sampled_from(self.started))
        event = Progress(held.number, progress, cursor)
        expected = apply(self.model[held.position], event, datetime.now(UTC))
        with self.ledger.statement() as tx:
            kept = checkpoints.keep(tx, [checkpoint(held, progress, cursor)])
        assert bool(kept) == (expected.reason == "progress")
        if kept:
            self.happened(held.position, event)

    @precondition(lambda self: len(self.started) >= self.calm)
    @rule(data=st.data())
    def fail_by_operator(self, data):
        position = data.draw(st.integers(0, len(self.model) - 1))
        before = self.model[position]
        try:
            fail(self.ledger, self.job_id, f"doc-{position}")
        except StaleArrow:
            assert before.state in TERMINAL or self.expired
        else:
            self.happened(position, FailByOperator())
            assert self.model[position].error_code == "failed_by_operator"

    @rule(lanes=st.integers(1, 4))
    def edit(self, lanes):
        """Other lanes: what is released stays, and no rule of an item changes."""
        try:
            edit(self.ledger, self.job_id, concurrency=lanes)
        except StaleArrow:
            assert self.expired or self.cancelled or self.completed

    @precondition(lambda self: len(self.started) >= self.calm)
    @rule()
    def cancel(self):
        if self.completed:
            with pytest.raises(StaleArrow):
                cancel(self.ledger, self.job_id)
            return
        cancel(self.ledger, self.job_id)
        self.cancelled = True
        now = datetime.now(UTC)
        self.model = [replace(apply(one, Cancel(), now).item, job_cancelled=True) for one in self.model]

    @precondition(lambda self: len(self.started) >= self.calm and not self.expired)
    @rule()
    def the_deadline_comes(self):
        update(self.ledger, "jobs", "expires_at = clock_timestamp()", "job_id = %(job)s", job=self.job_id)
        deadline = value(self.ledger, "SELECT expires_at FROM jobs WHERE job_id = %s", self.job_id)
        self.model = [replace(one, expires_at=deadline) for one in self.model]
        self.expired = True

    @precondition(lambda self: self.expired and any(one.state not in TERMINAL for one in self.model))
    @rule()
    def sweep_the_expired(self):
        list(reconcile._expire(self.ledger, LEASE))
        for position in range(len(self.model)):
            self.happened(position, Expire())

    @rule()
    def reduce(self):
        if reduce(self.ledger, self.job_id):
            assert self.admitted
            assert not self.cancelled
            assert all(one.state in TERMINAL for one in self.model)
            self.completed = True

    @invariant()
    def the_ledger_says_what_the_rules_say(self):
        found_items = all_items(self.ledger, self.job_id) if self.model else []
        for found, expected in zip(found_items, self.model, strict=True):
            assert decided(found) == decided(expected)
            assert found.error_code != "expired" or found.finished_at == found.expires_at

    @invariant()
    def the_gate_is_as_the_rules_say(self):
        found = "SELECT outages, rejections, opened_for, opened_at IS NOT NULL FROM gates"
        expected = (self.gate.outages, self.gate.rejections, self.gate.opened_for, self.gate.opened_at is not None)
        assert not self.model or rows(self.ledger, found) == [expected]

    @invariant()
    def what_is_final_never_changes(self):
        if not self.model:
            return
        whole = "SELECT * FROM items WHERE job_id = %s AND finished_at IS NOT NULL ORDER BY position"
        final = {row.position: row for row in rows(self.ledger, whole, self.job_id)}
        assert final | self.final == final
        self.final = final

    @invariant()
    def everything_holds(self):
        if self.model:
            check(self.ledger, self.job_id)

    @invariant()
    def its_events_tell_the_same_story(self):
        if not self.model:
            return
        told = dict.fromkeys(range(len(self.model)), "open")
        told |= {position: "failed" for position, one in enumerate(self.model) if one.error_code == "empty_input"}
        story = "SELECT kind, position FROM events WHERE job_id = %s AND position IS NOT NULL ORDER BY version"
        for kind, position in rows(self.ledger, story, self.job_id):
            assert told[position] == "open", "something happened after the end"
            told[position] = {"expired": "failed", "requeued": "open", "held": "open", "released": "open"}.get(
                kind, kind
            )
        now = ["open" if one.state not in TERMINAL else one.state for one in self.model]
        assert list(told.values()) == now

    def has(self, state):
        return any(one.state == state for one in self.model)

    def happened(self, position, event):
        """The rules' word on it."""
        self.model[position] = apply(self.model[position], event, datetime.now(UTC)).item

    def would_change(self, position, event):
        return apply(self.model[position], event, datetime.now(UTC)).changed

    def of_state(self, state):
        found = "SELECT position, dispatch_id FROM items WHERE job_id = %s AND state = %s ORDER BY position"
        return [tuple(row) for row in rows(self.ledger, found, self.job_id, state)]

    def at(self, position):
        return {"job": self.job_id, "position": position}

    def teardown(self):
        """Whatever has happened, the job can be brought to its end."""
        if self.model:
            self.bring_to_its_end()
        with self.ledger.transaction() as tx:
            tx.exec_driver_sql("DELETE FROM notifications")
            for table in ("calls", "attempts", "merged_actions", "row_actions", "items", "events", "texts", "jobs"):
                tx.exec_driver_sql(f"DELETE FROM {table}")
            tx.exec_driver_sql("DELETE FROM gates")

    def bring_to_its_end(self):
        resume(self.ledger, "extractive")
        admit(self.ledger, self.job_id)
        past = "lease_until = clock_timestamp() - interval '1 second'"
        for _ in range(2 * len(self.model) + 2):
            update(self.ledger, "items", past, "lease_until IS NOT NULL")
            update(self.ledger, "items", "available_at = clock_timestamp()", "available_at IS NOT NULL")
            reconcile.reconcile(self.ledger, LEASE, "w")
            for released in self.of_state("released"):
                process.process(self.bench, Released(self.job_id, *released))
        reduce(self.ledger, self.job_id)
        assert {one.state for one in all_items(self.ledger, self.job_id)} <= TERMINAL
        ended = value(self.ledger, "SELECT state FROM jobs WHERE job_id = %s", self.job_id)
        assert ended == ("cancelled" if self.cancelled else "completed")
        check(self.ledger, self.job_id)


def test_any_history_gives_the_states_that_the_rules_give(ledger, bench):
    run_state_machine_as_test(
        lambda: Histories(ledger, bench()),
        _min_steps=25,
        settings=settings(
            max_examples=12,
            stateful_step_count=25,
            deadline=timedelta(seconds=10),
            database=None,
            derandomize=True,
            # Shrinking would take minutes of a real database's time: a history that fails is printed as it was found.
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )
