"""Every error code: what follows its first, its last and its uncounted try (section 8 of the design)."""

import pytest

from pipeline.domain.failure import LONGEST_WAIT, POLICIES, RATE_LIMIT_PATIENCE, decide

#: code -> tries in total (None: without limit), what the item waits for, whether it is charged, calls in one attempt
TABLE = {
    "input_too_large": (1, "none", True, 1),
    "empty_input": (1, "none", True, 1),
    "too_short": (1, "none", True, 1),
    "unreadable_input": (1, "none", True, 1),
    "not_a_call": (1, "none", True, 1),
    "rate_limited": (None, "gate", False, 1),
    "quota_exhausted": (None, "none", False, 1),
    "provider_auth": (None, "none", False, 1),
    "provider_rejected": (1, "none", True, 1),
    "provider_unavailable": (5, "backoff", True, 1),
    "provider_timeout": (2, "backoff", True, 1),
    "invalid_output": (1, "none", True, 3),
    "output_truncated": (1, "none", True, 2),
    "content_filtered": (2, "none", True, 1),
    "refused": (2, "none", True, 1),
    "budget_exhausted": (1, "none", True, 1),
    "failed_by_operator": (1, "none", True, 1),
    "expired": (1, "none", True, 1),
    "cancelled": (1, "none", True, 1),
    "worker_lost": (3, "none", True, 1),
    "internal_error": (2, "none", True, 1),
}


def after(code, tries=1, waited=0.0, retry_after=None, jitter=1.0):
    return decide(code, tries=tries, waited=waited, retry_after=retry_after, jitter=jitter)


def test_the_table_has_every_code_and_no_other():
    assert set(TABLE) == set(POLICIES)


@pytest.mark.parametrize("code", TABLE)
def test_a_code_is_tried_as_often_as_the_table_says(code):
    tries, wait, charged, calls = TABLE[code]
    for so_far in (1, 2, 3, 4, 5, 6, 100):
        decision = after(code, so_far)
        assert decision.retry == (tries is None or so_far < tries)
        assert decision.charged == charged
        assert decision.pause_gate == (wait == "gate")
        assert (decision.wait > 0) == (wait == "gate" or (decision.retry and wait != "none"))
    assert POLICIES[code].calls == calls


@pytest.mark.parametrize("code", TABLE)
def test_only_a_spent_budget_and_a_cancel_end_as_skipped(code):
    assert after(code, 100).ends_as == ("skipped" if code in {"budget_exhausted", "cancelled"} else "failed")


def test_a_wait_doubles_from_a_second_to_five_minutes_and_jitter_takes_at_most_half():
    assert [after("provider_unavailable", tries).wait for tries in (1, 2, 3, 4)] == [1, 2, 4, 8]
    assert [after("provider_unavailable", tries, jitter=0.0).wait for tries in (1, 2, 3, 4)] == [0.5, 1, 2, 4]
    assert after("rate_limited", 10_000).wait == LONGEST_WAIT


def test_the_providers_word_is_waited_for_as_long_as_our_patience_lasts():
    assert after("rate_limited", retry_after=42.0, jitter=0.0).wait == 42.0
    assert after("rate_limited", 6, retry_after=0.2).wait == 32.0
    assert after("rate_limited", retry_after=900.0).wait == 900.0
    assert after("rate_limited", retry_after=86_400.0).wait == RATE_LIMIT_PATIENCE
    assert after("rate_limited", 30, jitter=1.0).wait == LONGEST_WAIT


def test_patience_with_a_rate_limit_is_measured_in_time():
    assert after("rate_limited", 500, waited=RATE_LIMIT_PATIENCE - 1).retry
    last = after("rate_limited", 2, waited=RATE_LIMIT_PATIENCE, retry_after=42.0)
    assert (last.retry, last.pause_gate, last.wait) == (False, True, 42.0), "the others still wait"
    assert after("quota_exhausted", 2, waited=RATE_LIMIT_PATIENCE * 9).retry
