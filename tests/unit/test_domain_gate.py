"""The provider's gate: what each code does to it, what closes it, and what holds after any run of attempts."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import hypothesis.strategies as st
import pytest
from hypothesis import given

from pipeline.domain.failure import POLICIES
from pipeline.domain.gate import (
    ANSWERED,
    DOCUMENTS_TO_OPEN,
    EXCUSED,
    OUTAGES_TO_OPEN,
    REJECTIONS_TO_OPEN,
    Gate,
    excuses,
    failed,
    succeeded,
    until_probe,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LEASE = 60.0

#: code -> how many attempts in a row with it open the breaker (None: never), and whether an open one excuses it
TABLE = {
    **dict.fromkeys(POLICIES, (None, False)),
    "rate_limited": (None, True),
    "quota_exhausted": (1, True),
    "provider_auth": (1, True),
    "provider_unavailable": (5, True),
    "provider_rejected": (3, False),
}


def later(seconds):
    return NOW + timedelta(seconds=seconds)


def after(gate, code, seconds=0.0, pause=0.0, document=None, started=None):
    """Every failure is another document's, unless it is named, and ends as soon as it has started."""
    name = document or f"doc-{gate.outages}-{seconds}"
    started_at = later(seconds if started is None else started)
    return failed(gate, code, name, started_at, later(seconds), pause=pause, lease=LEASE)


def success(gate, seconds=0.0):
    return succeeded(gate, later(seconds), later(seconds))


@pytest.mark.parametrize("code", TABLE)
def test_a_code_opens_the_breaker_after_as_many_in_a_row_as_the_table_says(code):
    needed, excused = TABLE[code]
    gate = Gate()
    for number in range(1, 10):
        gate = after(gate, code, number)
        is_open = needed is not None and number >= needed
        assert (gate.opened_at is not None) == is_open
        assert gate.opened_for == (code if is_open else None)
        assert excuses(gate, code) == (is_open and excused)
    assert excuses(Gate(opened_at=NOW, opened_for="provider_auth", probe_at=NOW), code) == excused


@pytest.mark.parametrize("documents", [1, 2, 3, 4])
def test_outages_of_one_or_two_documents_only_are_the_documents_own(documents):
    gate = Gate()
    for number in range(20):
        gate = after(gate, "provider_unavailable", number, document=f"doc-{number % documents}")
        assert (gate.opened_at is not None) == (documents >= DOCUMENTS_TO_OPEN and number + 1 >= OUTAGES_TO_OPEN)


@pytest.mark.parametrize("code", TABLE)
def test_a_success_in_between_ends_a_run(code):
    needed, _ = TABLE[code]
    if needed == 1:
        return
    gate = Gate()
    for _ in range(4):
        for _ in range((needed or 3) - 1):
            gate = after(gate, code)
        gate = success(gate)
        assert gate == Gate()


def test_an_open_breaker_stays_open_for_what_opened_it_and_when():
    gate = after(Gate(), "provider_auth")
    for code in POLICIES.keys() - ANSWERED:
        assert after(gate, code, 5).opened_for == "provider_auth"
        assert after(gate, code, 5).opened_at == NOW
        assert after(gate, code, 5).probe_at == gate.probe_at


@pytest.mark.parametrize("seconds", [-5, 0])
def test_a_success_that_began_before_the_breaker_opened_says_nothing_of_it(seconds):
    gate = after(Gate(outages=3, rejections=1, outage_documents=("a", "b")), "quota_exhausted")
    assert success(gate, seconds) == replace(gate, outages=0, rejections=0, outage_documents=())


def test_a_success_that_began_later_closes_the_breaker_and_leaves_a_pause_alone():
    gate = replace(after(Gate(), "quota_exhausted"), probes=3)
    gate = after(gate, "rate_limited", 1, pause=30.0)
    assert success(gate, 2) == Gate(paused_until=later(31), error_code="rate_limited", closed_at=later(2))


@pytest.mark.parametrize("code", sorted(ANSWERED))
def test_an_answer_that_does_not_hold_still_shows_that_the_provider_is_there(code):
    gate = after(Gate(), "quota_exhausted", 1)
    assert after(gate, code, 5, started=0) == gate
    assert after(gate, code, 5).opened_at is None
    rejected = Gate(opened_at=NOW, opened_for="provider_rejected", probe_at=NOW, rejections=3)
    assert after(rejected, code, 5) == rejected
    assert after(Gate(outages=4, outage_documents=("a",)), code) == Gate()


@pytest.mark.parametrize("code", ["quota_exhausted", "provider_auth", "provider_unavailable"])
def test_what_began_before_the_breaker_closed_does_not_open_it_again(code):
    gate = success(after(Gate(), "provider_auth"), 10)
    for number in range(9):
        gate = after(gate, code, 20, started=9, document=f"doc-{number}")
    assert (gate.opened_at, gate.outages) == (None, 0)
    for number in range(OUTAGES_TO_OPEN):
        gate = after(gate, code, 20, started=11, document=f"doc-{number}")
    assert gate.opened_for == code


def test_a_longer_pause_that_stands_stays():
    gate = after(Gate(), "rate_limited", pause=30.0)
    assert gate == Gate(paused_until=later(30), error_code="rate_limited")
    assert after(gate, "rate_limited", 5, pause=10.0) == gate
    assert after(gate, "rate_limited", 5, pause=40.0).paused_until == later(45)
    assert after(gate, "provider_timeout", 5) == gate


def test_probes_come_after_a_quarter_of_a_lease_and_then_doubling_to_fifteen_leases():
    assert after(Gate(), "provider_auth").probe_at == later(15)
    assert [until_probe(probes, LEASE) for probes in range(8)] == [15, 30, 60, 120, 240, 480, 900, 900]
    assert until_probe(10_000, LEASE) == 900


ENDS = st.lists(st.sampled_from([None, *TABLE]), max_size=40)


@given(ENDS)
def test_whatever_the_order_a_run_opens_it_and_only_a_later_success_closes_it(ends):
    gate, run = Gate(), dict.fromkeys(("provider_unavailable", "provider_rejected"), 0)
    is_open = False
    for second, code in enumerate(ends):
        if code is None:
            gate, run, is_open = success(gate, second + 0.5), dict.fromkeys(run, 0), False
        else:
            gate = after(gate, code, second)
            run[code] = run.get(code, 0) + 1
            if code in ANSWERED:
                run["provider_unavailable"] = 0
                is_open &= gate.opened_for == "provider_rejected"
            is_open |= code in {"quota_exhausted", "provider_auth"}
            is_open |= run["provider_unavailable"] >= OUTAGES_TO_OPEN or run["provider_rejected"] >= REJECTIONS_TO_OPEN
            assert excuses(gate, code) == (is_open and code in EXCUSED)
        assert (gate.opened_at is not None) == is_open
        assert (gate.opened_at is None) == (gate.opened_for is None) == (gate.probe_at is None)
        assert (gate.outages, gate.rejections) == (run["provider_unavailable"], run["provider_rejected"])
