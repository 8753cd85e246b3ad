"""The short form of the crash matrix: some of its points, on Redis. `make test-crash` runs all of them."""

import crash_case
import pytest
from crash_points import POINTS

SHORT = {
    "after the summarizer",
    "before the settle commit",
    "before publishing the next document",
    "in admit after its first message",
    "in freeze after the rename",
    "in reconcile after its commit",
}


@pytest.mark.parametrize("point", [point for point in POINTS if point.name in SHORT], ids=lambda point: point.slug)
def test_a_job_recovers_from_a_kill(crew, open_desk, point):
    crew.work(crash_case.SCRIPT, app="crashing")
    crash_case.recover_from(point, crew, open_desk())


def test_each_point_of_the_matrix_is_a_function_of_the_flow():
    for point in POINTS:
        owner, name = point.find()
        assert callable(getattr(owner, name)), point.place
    assert {point.name for point in POINTS} > SHORT
