"""When a program that died is started again."""

from itertools import accumulate

from pipeline.stack.programs import HEALTHY_SECONDS, next_delay


def test_the_delay_doubles_from_a_fifth_of_a_second_up_to_ten_seconds():
    delays = list(accumulate(range(8), lambda delay, _: next_delay(delay, 0.0), initial=next_delay(None, 0.0)))
    assert delays == [0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 10.0, 10.0, 10.0]


def test_a_program_that_was_healthy_starts_over_with_the_first_delay():
    assert next_delay(10.0, HEALTHY_SECONDS) == 0.2
    assert next_delay(5.0, HEALTHY_SECONDS - 1) == 10.0
