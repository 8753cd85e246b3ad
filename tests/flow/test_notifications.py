"""Who asked for it hears of a job's end: once where all goes well, again where it failed, never not at all."""

import json
import sys
from pathlib import Path

import pytest
from crew import wait_for
from scripted import calls

LISTENER = Path(__file__).parent / "listener.py"


@pytest.fixture
def listen(crew):
    """Hires the crew with the listener as its command, and gives what it has heard."""
    heard = crew.folder / "heard.ndjson"
    heard.unlink(missing_ok=True)

    def asked(how):
        command = [sys.executable, str(LISTENER), how]
        crew.work(env={"CALLFOLD_ON_COMPLETE": json.dumps(command)})
        return lambda: [json.loads(line) for line in heard.read_text().splitlines()] if heard.exists() else []

    yield asked
    crew.dismiss()


def settled(desk):
    return desk.query("SELECT 1 FROM notifications WHERE state = 'completed' AND delivered_at IS NOT NULL")


def test_the_command_is_called_once_per_job_when_its_bundle_is_there(open_desk, listen):
    heard = listen("0")
    desk = open_desk()
    job_ids = [desk.submit(calls(3), key=f"night {n}") for n in range(4)]
    bundles = {str(job_id): desk.bundle(job_id) for job_id in job_ids}
    wait_for(lambda: len(settled(desk)) == 4)
    ticked(desk)
    assert sorted(line["job_id"] for line in heard()) == sorted(bundles)
    for line in heard():
        job, bundle = desk.job(line["job_id"]), bundles[line["job_id"]]
        assert line["sealed"]
        assert (line["state"], line["version"], line["key"]) == ("completed", job.version, job.idempotency_key)
        assert (line["counts"]["succeeded"], line["folder"]) == (3, str(bundle.folder))
        assert line["export_id"] == bundle.seal["export_id"]


def ticked(desk):
    """Wait until reconcile has looked twice more at all that is there."""
    for _ in range(2):
        before = desk.query("SELECT last_tick FROM reconciler")
        wait_for(lambda before=before: desk.query("SELECT last_tick FROM reconciler") != before)


def test_a_command_that_fails_at_first_is_called_until_it_works(open_desk, listen):
    heard = listen("2")
    desk = open_desk()
    job_id = desk.submit(calls(1))
    desk.bundle(job_id)
    wait_for(lambda: settled(desk))
    ticked(desk)
    assert [line["version"] for line in heard()] == [desk.job(job_id).version] * 3
    assert desk.query("SELECT tries FROM notifications WHERE state = 'completed'") == [(3,)]


def test_kill_9_of_the_control_worker_between_the_telling_and_its_mark(crew, open_desk, listen):
    heard = listen("until")
    desk = open_desk()
    job_id = desk.submit(calls(1))
    desk.bundle(job_id)
    wait_for(heard)  # and the command has not ended yet
    crew.control.kill()
    crew.give("heard")
    assert not settled(desk)
    crew.control.start()
    wait_for(lambda: settled(desk))
    assert [line["job_id"] for line in heard()] == [str(job_id)] * 2
    assert desk.query("SELECT tries FROM notifications WHERE state = 'completed'") == [(2,)]
