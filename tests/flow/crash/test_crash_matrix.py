"""The whole matrix: every point on every broker, those of `process` on threads and on prefork."""

import crash_case
import pytest
from crash_points import POINTS

CASES = [
    pytest.param(pool, point, id=f"{pool}-{point.slug}")
    for pool in ("threads", "prefork")
    for point in POINTS
    if pool == "threads" or point.hit == "process"
]


@pytest.mark.parametrize(("pool", "point"), CASES)
def test_a_job_recovers_from_a_kill(crew, open_desk, broker, pool, point, findings):
    crew.work(crash_case.SCRIPT, broker=broker, app="crashing", pool=pool)
    desk = open_desk()
    findings.note_case(desk, point, pool, crash_case.recover_from(point, crew, desk, pool))
