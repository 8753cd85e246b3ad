"""Any history of a job's items under the pure rules: what never changes, what always sums, what a replay gives."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import hypothesis.strategies as st
from hypothesis import given, settings

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

BEGIN = datetime(2026, 3, 4, 2, 0, tzinfo=UTC)
DEADLINE = BEGIN + timedelta(seconds=60)
REASONS = {
    "released",
    "started",
    "already-running",
    "not-startable",
    "progress",
    "stale-progress",
    "duplicate-progress",
    "not-running",
    "requeued",
    "succeeded",
    "failed",
    "expired",
    "duplicate-result",
    "duplicate-expire",
    "terminal-conflict",
}

attempts = st.integers(1, 3)
percents = st.integers(0, 99)
codes = st.sampled_from(["provider_unavailable", "not_a_call", "rate_limited", "budget_exhausted"])
EVENTS = st.one_of(
    # Most histories should get somewhere.
    st.builds(Release),
    st.just(Start("w")),
    st.builds(Hold, st.just(BEGIN)),
    st.builds(Progress, attempts, percents, st.integers(0, 2)),
    st.builds(Succeed, attempts, st.just("ref"), st.sampled_from(["hash-1", "hash-2"])),
    st.builds(Fail, attempts, codes, st.booleans(), charged=st.booleans(), skips=st.booleans()),
    st.builds(Lose, attempts),
    st.just(FailByOperator()),
    st.just(Cancel()),
    st.just(Expire()),
)
#: What happens to which of three items, and how many seconds after what came before; some pass the deadline.
HISTORIES = st.lists(st.tuples(st.integers(0, 2), EVENTS, st.sampled_from([0, 0, 0, 1, 2, 70])), max_size=40)


def lived(history):
    """Every (item, transition, item before) of the history, in order, and the items at its end."""
    items, at, seen = [Item("pending", DEADLINE, max_attempts=2)] * 3, BEGIN, []
    for number, event, seconds in history:
        at += timedelta(seconds=seconds)
        before = items[number]
        moved = apply(before, event, at)
        items[number] = moved.item
        if isinstance(event, Cancel):
            items = [replace(one, job_cancelled=True) for one in items]
        seen.append((number, moved, before))
        assert sum(Counter(one.state for one in items)[state] for state in ITEM_STATES) == len(items)
    return seen, items


@given(HISTORIES)
@settings(max_examples=400, derandomize=True)
def test_what_is_terminal_never_changes_and_every_change_is_one_version(history):
    for _, moved, before in lived(history)[0]:
        assert moved.reason in REASONS
        assert not (moved.changed and moved.duplicate)
        assert moved.item.version == before.version + moved.changed
        if before.state in TERMINAL:
            assert replace(moved.item, job_cancelled=before.job_cancelled) == before
        if moved.item.state in TERMINAL:
            assert moved.item.finished_at is not None
            assert (moved.item.error_code is None) == (moved.item.state == "succeeded")
        assert 0 <= moved.item.charged <= moved.item.attempt_count
        assert moved.item.losses_alone <= moved.item.charged
        assert moved.item.charged <= moved.item.max_attempts


@given(HISTORIES)
@settings(max_examples=200, derandomize=True)
def test_a_replay_gives_the_same_history(history):
    assert lived(history) == lived(history)


@given(HISTORIES, st.integers(0, 10_000))
@settings(max_examples=200, derandomize=True)
def test_the_deadline_leaves_the_same_items_whenever_it_is_noticed(history, late):
    _, items = lived([one for one in history if one[2] < 70])
    for one in items:
        noticed = [apply(one, Expire(), DEADLINE + timedelta(seconds=seconds)).item for seconds in (0, late)]
        assert noticed[0] == noticed[1]
        assert one.state not in OPEN or (noticed[0].error_code, noticed[0].finished_at) == ("expired", DEADLINE)


@given(HISTORIES)
@settings(max_examples=200, derandomize=True)
def test_what_came_twice_counts_once(history):
    """Every message may be repeated: said again at the same moment, an attempt's end changes nothing more."""
    _, items = lived(history)
    for one in items:
        for event in (Succeed(one.attempt_count, "ref", "hash-1"), Fail(one.attempt_count, "refused", retryable=False)):
            first = apply(one, event, BEGIN)
            assert not first.changed or not apply(first.item, event, BEGIN).changed
