"""A schedule's business date is one job, whoever starts it and however often."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, date, datetime

import pytest
import redis
from crew import wait_for

from pipeline.cli import programs
from pipeline.settings import Schedule
from pipeline.stages.commands import Admit
from pipeline.stages.nightly import due_date, nightly
from pipeline.transcripts.batch import read_paths

NIGHT = date(2026, 3, 29)


@pytest.fixture
def source(tmp_path):
    """A folder of two calls of one account."""
    for name in ("first", "second"):
        (tmp_path / f"{name}.txt").write_text(f"Ann: This is the {name} call.\nBen: It is indeed.\n")
    return tmp_path


def test_two_starts_of_one_date_at_once_are_one_job(crew, open_desk, source):
    crew.work()
    desk = open_desk()
    schedule = Schedule(source=source, account="acme", options={"profile": "scripted"})
    settings = desk.settings.model_copy(update={"schedules": {"north": schedule}})
    together = threading.Barrier(8)

    def start(_):
        together.wait()
        return nightly(desk.ledger, settings, "north", NIGHT)

    with ThreadPoolExecutor(8) as pool:
        started = list(pool.map(start, range(8)))
    assert len({one.job_id for one in started}) == 1
    assert sorted(one.created for one in started) == [False] * 7 + [True]
    assert [one.commands for one in started if one.created] == [(Admit(started[0].job_id),)]

    desk.remember(list(read_paths([source], "acme", "north/2026-03-29/")))
    bundle = desk.bundle(started[0].job_id)
    assert [row["document_id"] for row in bundle.rows] == ["north/2026-03-29/first.txt", "north/2026-03-29/second.txt"]

    (source / "third.txt").write_text("Ann: This one came late.\n")
    late, next_night = (nightly(desk.ledger, settings, "north", date(2026, 3, day)) for day in (29, 30))
    assert (late.job_id, late.created, late.commands) == (started[0].job_id, False, ())
    assert next_night.created


def test_two_beats_start_one_job(crew, open_desk, servers, source):
    schedule = {"source": str(source), "account": "acme", "at": "00:00", "time_zone": zone_where_it_is_noon()}
    schedule["options"] = {"profile": "scripted"}
    crew.work(app="hasty", env={"CALLFOLD_SCHEDULES": json.dumps({"north": schedule})})
    beat = programs.companions()[0]
    beats = [
        crew.run(replace(beat, name=name, argv=(*beat.argv, "--schedule", str(crew.folder / f"{name}-schedule"))))
        for name in ("beat-1", "beat-2")
    ]
    wait_for(lambda: all(asked(one) >= 2 for one in beats))
    desk = open_desk()
    (job_id,) = wait_for(lambda: [job_id for (job_id,) in desk.query("SELECT job_id FROM jobs")])
    today = due_date(Schedule.model_validate(schedule), datetime.now(UTC))
    desk.remember(list(read_paths([source], "acme", f"north/{today}/")))
    assert len(desk.bundle(job_id).rows) == 2
    enough = [asked(one) + 2 for one in beats]
    wait_for(lambda: all(asked(one) >= count for one, count in zip(beats, enough, strict=True)))
    wait_for(lambda: not redis.Redis.from_url(servers.urls.broker).llen("callfold.nightly"))
    assert desk.query("SELECT job_id FROM jobs") == [(job_id,)]
    crew.dismiss()


def asked(beat):
    """How often this beat has asked for what is due."""
    return beat.log.read_text().count("Sending due task")


def zone_where_it_is_noon():
    """Far from midnight, whenever the test runs."""
    east = 12 - datetime.now(UTC).hour
    return f"Etc/GMT{-east:+d}" if east else "UTC"  # POSIX counts westwards
