"""When a schedule's run is due, in its own time zone, also when the clocks change."""

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from pipeline.settings import Schedule
from pipeline.stages.nightly import due_date, key_of

BERLIN, NEW_YORK, AUCKLAND = "Europe/Berlin", "America/New_York", "Pacific/Auckland"


@pytest.mark.parametrize(
    ("zone", "at", "now", "due"),
    [
        ("UTC", "02:00", "2026-06-10T01:59:59", None),
        ("UTC", "02:00", "2026-06-10T02:00:00", "2026-06-10"),
        ("UTC", "02:00", "2026-06-10T23:59:59", "2026-06-10"),
        # The business date is the schedule's, not UTC's.
        (AUCKLAND, "02:00", "2026-06-09T14:00:00", "2026-06-10"),
        (NEW_YORK, "23:00", "2026-06-10T03:00:00", "2026-06-09"),
        # 02:30 does not exist on the night when clocks go forward: half an hour after 02:00 is 03:30.
        (BERLIN, "02:30", "2026-03-29T01:29:59", None),
        (BERLIN, "02:30", "2026-03-29T01:30:00", "2026-03-29"),
        # 02:30 comes twice on the night when they go back: both are the same date's, so the same key's.
        (BERLIN, "02:30", "2026-10-25T00:29:59", None),
        (BERLIN, "02:30", "2026-10-25T00:30:00", "2026-10-25"),
        (BERLIN, "02:30", "2026-10-25T01:00:00", "2026-10-25"),
        (BERLIN, "02:30", "2026-10-25T01:30:00", "2026-10-25"),
        # A beat that comes late, past midnight, still means the night before; a day later it does not.
        ("UTC", "23:30", "2026-06-11T00:05:00", "2026-06-10"),
        ("UTC", "23:30", "2026-06-11T05:30:00", None),
        ("UTC", "02:00", "2026-06-11T01:00:00", None),
    ],
)
def test_a_run_is_due_from_its_time_of_day_on(zone, at, now, due):
    schedule = Schedule(source=Path("calls"), at=at, time_zone=zone)
    moment = datetime.fromisoformat(now).replace(tzinfo=UTC)
    assert due_date(schedule, moment) == (date.fromisoformat(due) if due else None)


def test_a_run_is_due_on_every_date_of_a_year_with_clock_changes():
    schedule = Schedule(source=Path("calls"), at="02:30", time_zone=BERLIN)
    hours = (datetime.fromtimestamp(hour * 3600, UTC) for hour in range(490_896, 490_896 + 365 * 24))
    found = {due for hour in hours if (due := due_date(schedule, hour))}
    assert len(found) == 365
    assert max(found) - min(found) == (date(2026, 12, 31) - date(2026, 1, 1))


def test_the_key_of_a_run_is_its_schedule_and_date():
    assert key_of("north", date(2026, 3, 1)) == "nightly-north-2026-03-01"
