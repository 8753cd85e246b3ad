"""A nightly run's export gets to where its schedule says, with a receipt, whatever is killed on the way."""

import tempfile
from datetime import date
from pathlib import Path
from uuid import UUID

import pytest
from crew import wait_for

from exports.verify import verify
from pipeline.domain.receipts import default_key
from pipeline.settings import Schedule
from pipeline.stages.nightly import nightly
from pipeline.transcripts.batch import read_paths

NIGHT = date(2026, 3, 29)


@pytest.fixture
def place():
    """A folder into which the workers may write, and which is not there yet."""
    with tempfile.TemporaryDirectory(prefix="callfold-") as base:
        yield Path(base, "crm")


@pytest.fixture
def start(crew, open_desk, tmp_path, place):
    """Submits a night of two calls that is to be delivered; gives the desk and the job."""
    for name in ("first", "second"):
        (tmp_path / f"{name}.txt").write_text(f"Ann: This is the {name} call.\nBen: It is indeed.\n")
    crew.work()
    desk = open_desk()
    schedule = Schedule(source=tmp_path, account="acme", deliver_to=place.as_uri(), options={"profile": "scripted"})
    settings = desk.settings.model_copy(update={"schedules": {"north": schedule}})
    desk.remember(list(read_paths([tmp_path], "acme", "north/2026-03-29/")))
    return lambda: (desk, nightly(desk.ledger, settings, "north", NIGHT).job_id)


def receipts(desk):
    return desk.query("SELECT uri, key, export_id::text FROM receipts")


def receipt(place, export_id):
    return (place.as_uri(), default_key(UUID(export_id), place.as_uri()), export_id)


def arrived(desk):
    return desk.query("SELECT 1 FROM jobs WHERE delivered_at IS NOT NULL")


def test_a_nightly_runs_export_is_delivered_with_a_key_of_export_and_place(start, place):
    desk, job_id = start()
    bundle = desk.bundle(job_id)
    wait_for(lambda: arrived(desk))
    export_id = bundle.seal["export_id"]
    assert receipts(desk) == [receipt(place, export_id)]
    assert verify(place / export_id).rows == 2
    for path in bundle.folder.iterdir():
        assert (place / export_id / path.name).read_bytes() == path.read_bytes()


def test_kill_9_of_the_control_worker_between_the_copy_and_the_receipt(crew, start, place):
    desk, job_id = start()
    with desk.ledger.transaction() as tx:
        tx.exec_driver_sql("LOCK TABLE receipts IN SHARE ROW EXCLUSIVE MODE")
        export_id = desk.bundle(job_id).seal["export_id"]
        (writer,) = wait_for(lambda: writers(desk))
        crew.control.kill()
        desk.query("SELECT pg_terminate_backend(%s)", writer.pid)  # it would go on without its client
        wait_for(lambda: not writers(desk))
    copied = {path.name: path.stat().st_ino for path in (place / export_id).iterdir()}
    assert "seal.json" in copied
    assert receipts(desk) == []
    crew.control.start()
    wait_for(lambda: arrived(desk))
    assert receipts(desk) == [receipt(place, export_id)]
    assert {path.name: path.stat().st_ino for path in (place / export_id).iterdir()} == copied


def writers(desk):
    """Who waits to write a receipt."""
    return desk.query(
        "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%%INSERT INTO receipts%%'"
    )
