"""Every event on every state: the rules, and the order in which they decide."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from pipeline.domain.lifecycle import (
    ITEM_STATES,
    OPEN,
    TERMINAL,
    Cancel,
    Expire,
    Fail,
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
from pipeline.errors import InvalidRequest

NOW = datetime(2026, 3, 4, 2, 0, tzinfo=UTC)
DEADLINE = NOW + timedelta(hours=1)
LATER = NOW + timedelta(minutes=5)

ITEMS = {
    "pending": Item("pending", DEADLINE),
    "released": Item("released", DEADLINE),
    "running": Item("running", DEADLINE, attempt_count=1),
    "succeeded": Item("succeeded", DEADLINE, attempt_count=1, progress=100, result_hash="hash", finished_at=NOW),
    "failed": Item("failed", DEADLINE, attempt_count=1, error_code="not_a_call", finished_at=NOW),
    "skipped": Item("skipped", DEADLINE, error_code="cancelled", finished_at=NOW),
}

EVENTS = {
    "release": Release(),
    "hold": Hold(LATER),
    "start": Start("w"),
    "progress": Progress(1, 40, 2),
    "succeed": Succeed(1, "ref", "hash"),
    "retry": Fail(1, "provider_unavailable", retryable=True),
    "fail": Fail(1, "not_a_call", retryable=False),
    "skip": Fail(1, "budget_exhausted", retryable=False, skips=True),
    "lose": Lose(1),
    "fail by operator": FailByOperator(),
    "cancel": Cancel(),
    "expire": Expire(),
}

#: state, event -> the state afterwards and the reason; what is missing changes nothing and is `otherwise`.
MOVES = {
    ("pending", "release"): ("released", "released"),
    ("released", "hold"): ("pending", "requeued"),
    ("released", "start"): ("running", "started"),
    ("running", "progress"): ("running", "progress"),
    ("running", "succeed"): ("succeeded", "succeeded"),
    ("running", "retry"): ("pending", "requeued"),
    ("running", "fail"): ("failed", "failed"),
    ("running", "skip"): ("skipped", "failed"),
    ("running", "lose"): ("pending", "requeued"),
    ("pending", "fail by operator"): ("failed", "failed"),
    ("released", "fail by operator"): ("failed", "failed"),
    ("running", "fail by operator"): ("failed", "failed"),
    ("pending", "cancel"): ("skipped", "failed"),
    ("released", "cancel"): ("skipped", "failed"),
}
STAYS = {
    ("running", "start"): "already-running",
    ("running", "cancel"): "already-running",
    ("succeeded", "succeed"): "duplicate-result",
}
OF_AN_ATTEMPT = {"progress", "succeed", "retry", "fail", "skip", "lose"}


def otherwise(state, event):
    if state in TERMINAL:
        return "terminal-conflict"
    return "not-running" if event in OF_AN_ATTEMPT else "not-startable"


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("state", ITEM_STATES)
def test_every_event_on_every_state(state, event):
    before = ITEMS[state]
    moved = apply(before, EVENTS[event], NOW)
    if (state, event) in MOVES:
        assert (moved.item.state, moved.reason) == MOVES[state, event]
        assert moved.changed
        assert not moved.duplicate
        assert moved.item.version == before.version + 1
        assert moved.notify == (event not in {"start", "progress"})
        assert (moved.item.finished_at == NOW) == (moved.item.state in TERMINAL)
    else:
        assert moved.reason == STAYS.get((state, event), otherwise(state, event))
        assert (moved.changed, moved.notify) == (False, False)
        assert replace(moved.item, job_cancelled=False) == before


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("state", ITEM_STATES)
def test_the_deadline_comes_before_every_event_and_after_a_terminal_state(state, event):
    for late in (timedelta(0), timedelta(days=3)):
        moved = apply(ITEMS[state], EVENTS[event], DEADLINE + late)
        if state in OPEN:
            assert (moved.item.state, moved.item.error_code, moved.reason) == ("failed", "expired", "expired")
            assert moved.item.finished_at == DEADLINE
        else:
            assert moved.item == ITEMS[state]


def test_an_expiry_that_is_noticed_twice_is_a_duplicate():
    expired = apply(ITEMS["running"], Expire(), DEADLINE).item
    again = apply(expired, Expire(), DEADLINE + timedelta(days=1))
    assert (again.duplicate, again.reason, again.item) == (True, "duplicate-expire", expired)


def test_another_result_of_a_succeeded_item_is_a_conflict():
    other = apply(ITEMS["succeeded"], Succeed(1, "ref", "other hash"), NOW)
    assert (other.duplicate, other.reason) == (False, "terminal-conflict")


@pytest.mark.parametrize("event", sorted(OF_AN_ATTEMPT))
@pytest.mark.parametrize("attempt", [0, 2])
def test_only_the_last_attempt_moves_its_item(event, attempt):
    moved = apply(ITEMS["running"], replace(EVENTS[event], attempt=attempt), NOW)
    assert (moved.changed, moved.reason) == (False, "not-running")


def test_progress_never_falls_and_a_repetition_is_a_duplicate():
    at_40 = apply(ITEMS["running"], Progress(1, 40, 2), NOW).item
    assert (at_40.progress, at_40.cursor) == (40, 2)
    assert apply(at_40, Progress(1, 40, 2), NOW).reason == "duplicate-progress"
    for progress, cursor in ((39, 3), (41, 1)):
        assert apply(at_40, Progress(1, progress, cursor), NOW).reason == "stale-progress"
    assert apply(at_40, Progress(1, 40, 3), NOW).changed
    for event in (EVENTS["retry"], Lose(1)):
        assert apply(at_40, event, NOW).item.progress == 0
    assert apply(at_40, EVENTS["succeed"], NOW).item.progress == 100


def test_a_retry_waits_as_long_as_it_is_told():
    moved = apply(ITEMS["running"], replace(EVENTS["retry"], wait=timedelta(seconds=7)), NOW).item
    assert moved.available_at == NOW + timedelta(seconds=7)
    assert apply(moved, Release(), NOW).item.available_at is None


def test_what_is_charged_counts_against_max_attempts_and_what_is_not_does_not():
    last = replace(ITEMS["running"], attempt_count=9, charged=2, max_attempts=3)
    assert apply(last, replace(EVENTS["retry"], attempt=9), NOW).item.error_code == "provider_unavailable"
    assert apply(replace(last, alone=True), Lose(9), NOW).item.error_code == "worker_lost"
    among_others = apply(last, Lose(9), NOW).item
    assert (among_others.state, among_others.charged) == ("pending", 2)
    free = apply(last, Fail(9, "rate_limited", retryable=True, charged=False), NOW).item
    assert (free.state, free.charged) == ("pending", 2)


class TestASuspectedItem:
    """Its lease ran out: that is suspicion, and the outcome of its attempt still counts until a later one starts."""

    lost = apply(ITEMS["running"], Lose(1), NOW).item

    def test_is_pending_and_not_charged(self):
        assert (self.lost.state, self.lost.suspect, self.lost.charged) == ("pending", True, 0)

    def test_runs_alone_from_then_on_and_fails_with_its_third_loss_there(self):
        item = self.lost
        for losses in (1, 2):
            assert (item.state, item.alone, item.losses_alone, item.charged) == (
                "pending",
                True,
                losses - 1,
                losses - 1,
            )
            started = apply(apply(item, Release(), NOW).item, Start("w"), NOW).item
            item = apply(started, Lose(started.attempt_count), NOW).item
        started = apply(apply(item, Release(), NOW).item, Start("w"), NOW).item
        ended = apply(started, Lose(started.attempt_count), NOW).item
        assert (ended.state, ended.error_code, ended.charged) == ("failed", "worker_lost", 3)

    def test_is_charged_for_no_loss_that_it_disproves(self):
        started = apply(apply(self.lost, Release(), NOW).item, Start("w"), NOW).item
        twice_lost = apply(started, Lose(2), NOW).item
        assert (twice_lost.losses_alone, twice_lost.charged) == (1, 1)
        requeued = apply(twice_lost, Fail(2, "rate_limited", retryable=True, charged=False), NOW).item
        assert (requeued.alone, requeued.losses_alone, requeued.charged) == (True, 0, 0)
        assert not apply(self.lost, EVENTS["retry"], NOW).item.alone

    @pytest.mark.parametrize("released", [False, True])
    def test_takes_the_late_outcome_instead_of_the_loss(self, released):
        item = apply(self.lost, Release(), NOW).item if released else self.lost
        succeeded = apply(item, EVENTS["succeed"], NOW).item
        assert (succeeded.state, succeeded.suspect, succeeded.charged) == ("succeeded", False, 0)
        for code, charged in (("provider_unavailable", 1), ("rate_limited", 0)):
            late = Fail(1, code, retryable=True, charged=bool(charged))
            requeued = apply(item, late, NOW).item
            assert (requeued.state, requeued.suspect, requeued.charged) == ("pending", False, charged)
            assert apply(requeued, late, NOW).reason == "not-running"

    def test_takes_no_progress_and_no_second_loss(self):
        for event in (Lose(1), Progress(1, 5, 1)):
            assert apply(self.lost, event, NOW).reason == "not-running"

    def test_is_under_no_suspicion_once_a_later_attempt_starts(self):
        started = apply(apply(self.lost, Release(), NOW).item, Start("w"), NOW).item
        assert (started.suspect, started.attempt_count, started.alone) == (False, 2, True)
        assert apply(started, EVENTS["succeed"], NOW).reason == "not-running"


class TestACancelledJob:
    running = apply(ITEMS["running"], Cancel(), NOW).item

    def test_lets_what_runs_go_on(self):
        assert (self.running.state, self.running.job_cancelled) == ("running", True)
        assert apply(self.running, EVENTS["succeed"], NOW).item.state == "succeeded"
        assert apply(self.running, EVENTS["fail"], NOW).item.error_code == "not_a_call"

    @pytest.mark.parametrize("event", [EVENTS["retry"], Lose(1)])
    def test_skips_what_would_have_been_tried_again(self, event):
        ended = apply(self.running, event, NOW).item
        assert (ended.state, ended.error_code) == ("skipped", "cancelled")
        assert apply(self.running, event, DEADLINE).item.error_code == "expired"

    @pytest.mark.parametrize(("state", "event"), [("pending", Release()), ("released", Start("w"))])
    def test_starts_nothing(self, state, event):
        moved = apply(replace(ITEMS[state], job_cancelled=True), event, NOW)
        assert (moved.changed, moved.reason) == (False, "not-startable")


@pytest.mark.parametrize(
    "event",
    [
        Start(""),
        Progress(1, -1, 0),
        Progress(1, 100, 0),
        Progress(1, 5, -1),
        Succeed(1, "", "hash"),
        Succeed(1, "ref", ""),
        Fail(1, "", retryable=False),
        Fail(1, "x", retryable=True, wait=timedelta(seconds=-1)),
    ],
)
def test_empty_and_impossible_values_are_refused_on_any_state(event):
    for item in ITEMS.values():
        with pytest.raises(InvalidRequest):
            apply(item, event, NOW)
