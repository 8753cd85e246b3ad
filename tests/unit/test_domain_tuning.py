"""The limit that tuning recommends: near the best, never at the edge, with room below."""

import pytest

from pipeline.domain.tuning import (
    Measured,
    is_worth_another,
    recommended,
    rises,
    steps,
)


def step(concurrency, per_minute, *, codes=None, rising=False):
    return Measured(
        concurrency=concurrency,
        documents=round(per_minute),
        seconds=60.0,
        oldest_age=9.0 if rising else 0.1,
        is_rising=rising,
        codes=codes or {},
    )


def test_the_step_before_the_refusal_is_the_best_and_the_limit_is_below_it():
    showed = [step(1, 10), step(2, 20), step(4, 40), step(8, 80), step(16, 120, codes={"rate_limited": 3})]
    advice = recommended(showed)
    assert advice.limit == 6
    assert advice.why == "80 documents a minute at 8, and headroom below it; at 16: 3 rate_limited"


def test_the_smallest_step_near_the_best_is_chosen():
    advice = recommended([step(1, 10), step(2, 20), step(4, 38), step(8, 40)])
    assert advice.limit == 3
    assert advice.why == "38 documents a minute at 4, and headroom below it; 40 a minute at 8"


def test_a_step_above_one_that_was_refused_counts_for_nothing():
    advice = recommended([step(1, 10), step(2, 20, codes={"provider_unavailable": 1}), step(4, 400)])
    assert advice.limit == 1
    assert "at 2: 1 provider_unavailable" in advice.why


def test_work_that_piles_up_is_too_much():
    advice = recommended([step(4, 40), step(8, 60, rising=True)])
    assert advice.limit == 3
    assert "at 8: documents waited longer and longer" in advice.why


def test_documents_that_fail_by_themselves_are_no_trouble():
    assert recommended([step(4, 40, codes={"refused": 2, "invalid_output": 1})]).limit == 3


def test_where_it_still_grew_at_the_end_that_is_said():
    advice = recommended([step(1, 10), step(2, 20), step(4, 40)])
    assert advice.limit == 3
    assert "it still grew there" in advice.why


def test_there_is_no_limit_where_already_one_at_a_time_is_refused():
    advice = recommended([step(1, 3, codes={"rate_limited": 1})])
    assert advice.limit is None
    assert advice.why == "already at concurrency 1: 1 rate_limited"
    assert recommended([step(1, 0)]).why == "already at concurrency 1: no document got a result"


@pytest.mark.parametrize("last", [8, 16, 64])
def test_the_limit_is_never_the_last_step_before_failure(last):
    showed = [step(2**power, 2**power) for power in range(last.bit_length())]
    showed.append(step(2 * last, last, codes={"rate_limited": 1}))
    assert recommended(showed).limit < last


@pytest.mark.parametrize(
    ("showed", "worth"),
    [
        ([step(1, 10)], True),
        ([step(1, 10), step(2, 19)], True),
        ([step(1, 10), step(2, 10.5)], False),
        ([step(1, 10), step(2, 30), step(4, 31)], False),
        ([step(1, 10), step(2, 20, codes={"rate_limited": 1})], False),
        ([step(1, 10), step(2, 20, rising=True)], False),
    ],
)
def test_another_step_is_worth_it_only_after_a_sound_one_that_brought_more(showed, worth):
    assert is_worth_another(showed) == worth


@pytest.mark.parametrize(
    ("bound", "documents", "taken"),
    [
        (32, None, {1: 4, 2: 6, 4: 12, 8: 24, 16: 48, 32: 96}),
        (20, 1_000, {1: 4, 2: 6, 4: 12, 8: 24, 16: 48}),
        (32, 20, {1: 4, 2: 6, 4: 12, 8: 20}),
        (1, 1_000, {1: 4}),
        (8, 1, {1: 1}),
    ],
)
def test_concurrency_doubles_up_to_the_bound_and_while_every_lane_has_two_documents(bound, documents, taken):
    assert steps(bound, documents) == taken


@pytest.mark.parametrize(
    ("ages", "rising"),
    [
        ([], False),
        ([9.0], False),
        ([0.0] * 30, False),
        ([5.0, 4.8, 5.2] * 10, False),
        ([number / 4 for number in range(30)], True),
        ([0.0] * 25 + [1.0] * 5, False),
        ([8.0 - number / 4 for number in range(30)], False),
    ],
)
def test_an_age_rises_where_it_is_another_at_the_end_than_at_the_beginning(ages, rising):
    assert rises(ages) == rising
