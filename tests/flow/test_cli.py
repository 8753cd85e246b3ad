"""The commands as a person types them, on embedded stacks of their own: run, Ctrl-C and run again, up, doctor, down."""

import base64
import json
import os
import signal
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

import psutil
import pytest
from crew import wait_for

#: As in a terminal: where the tests run in a shell's background, Ctrl-C is ignored.
CALLFOLD = """
import signal
from pipeline.cli.main import app

signal.signal(signal.SIGINT, signal.default_int_handler)
app(prog_name="callfold")
"""
CALL = """Ann: Thank you for your time today, the trial went well.
Bea: It did. I will send you the signed order form by Friday.
Ann: Wonderful, then I will set up the accounts for your team on Monday.
"""
#: Of one command, on a machine that does much else.
LIMIT_SECONDS = 150

pytestmark = pytest.mark.timeout(600)


class Desktop:
    """A folder to work in, as a user has it: `callfold` runs there, with its data below."""

    def __init__(self, folder):
        self.folder = folder
        dropped = ("DATABASE_URL", "BROKER_URL", "RESULT_URL")
        self.env = {name: value for name, value in os.environ.items() if name not in dropped}
        self.env |= {"CALLFOLD_LEASE_SECONDS": "10", "CALLFOLD_PROCESS_SLOTS": "4"}

    def write_calls(self, number):
        (self.folder / "calls" / "acme").mkdir(parents=True)
        for index in range(number):
            (self.folder / "calls" / "acme" / f"call-{index:02}.txt").write_text(CALL)

    def write_settings(self, **settings):
        lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
        profile = ["[profiles.scripted]", 'summarizer = "scripted"']
        (self.folder / "callfold.toml").write_text("\n".join((*lines, *profile)))

    def start(self, *arguments):
        return subprocess.Popen(
            [sys.executable, "-c", CALLFOLD, *arguments],
            cwd=self.folder,
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def call(self, *arguments, code=0):
        """Run a command to its end; returns its standard output."""
        running = self.start(*arguments)
        try:
            out, err = running.communicate(timeout=LIMIT_SECONDS)
        finally:
            running.kill()
        assert running.returncode == code, out + err
        return out

    def ask(self, *arguments, code=0):
        """The one JSON value of a command."""
        return json.loads(self.call(*arguments, "--json", code=code))

    def is_well(self):
        with self.start("doctor") as running:
            running.communicate(timeout=LIMIT_SECONDS)
        return running.returncode == 0

    def processes(self):
        """What runs on the data folder."""
        mark = str(self.folder)
        return [process for process in psutil.process_iter() if mark in _traces(process)]

    def log(self, name):
        return (self.folder / ".callfold" / "logs" / f"{name}.log").read_text()


@pytest.fixture
def desktop():
    # Not pytest's own folder: pytest closes it to PostgreSQL's account.
    with tempfile.TemporaryDirectory(prefix="callfold-") as folder:
        desktop = Desktop(Path(folder).resolve())
        yield desktop
        for process in desktop.processes():
            process.kill()


def test_run_does_a_job_once_and_stops_what_it_started(desktop):
    desktop.write_calls(3)
    (desktop.folder / "calls" / "acme" / "dropped.txt").write_text("")

    first = desktop.ask("run", "calls", "--key", "night")
    assert first["counts"] == {"total": 4, "succeeded": 3, "failed": 1, "skipped": 0}
    assert first["error_codes"] == {"empty_input": 1}
    assert desktop.processes() == []
    assert desktop.ask("verify", "out", "calls")["rows"] == 4

    worked = desktop.log("process")
    shown = desktop.call("run", "calls", "--key", "night", "--strict", code=4)
    assert first["job_id"] in shown
    assert "out/report.md" in shown
    assert desktop.log("process") == worked, "a finished job starts no worker"

    desktop.ask("run", "calls", "--key", "night", "--require", "all", code=3)
    assert [job["idempotency_key"] for job in desktop.ask("jobs")] == ["night"]
    assert desktop.ask("export", first["job_id"][:8], "--out", "again")["export_id"] == first["export_id"]
    assert desktop.processes() == []


def test_an_interrupted_run_is_continued_by_the_same_command(desktop):
    desktop.write_calls(12)
    go, log = desktop.folder / "go", desktop.folder / ".callfold" / "logs" / "process.log"
    first = {"acme/call-00.txt": [{"do": "succeed"}]}
    script = {"documents": first, "default": [{"do": "succeed", "until": str(go)}]}
    (desktop.folder / "script.json").write_text(json.dumps(script))
    desktop.write_settings(script=str(desktop.folder / "script.json"))
    command = ("run", "calls", "--profile", "scripted", "--concurrency", "2", "--key", "night")

    running = desktop.start(*command)
    wait_for(lambda: "process.settled" in _read(log), LIMIT_SECONDS)
    running.send_signal(signal.SIGINT)
    wait_for(lambda: "Warm shutdown" in _read(log), LIMIT_SECONDS)
    go.touch()
    out, err = running.communicate(timeout=LIMIT_SECONDS)
    assert (running.returncode, out) == (130, "")
    assert err.endswith("callfold: interrupted; the same command continues the job\n")
    assert desktop.processes() == []

    before = desktop.ask("status", "night")
    assert 0 < before["counts"]["succeeded"] < 11
    assert desktop.ask("edit", "night", "--concurrency", "4")["version"] == before["version"] + 1
    assert desktop.ask("fail", "night", "acme/call-11.txt")["counts"]["failed"] == 1
    assert "final already" in desktop.ask("fail", "night", "acme/call-11.txt", code=1)["message"]
    after = desktop.ask(*command)
    assert after["job_id"] == before["job_id"]
    assert after["counts"] == {"total": 12, "succeeded": 11, "failed": 1, "skipped": 0}
    documents = desktop.ask("show", "night")
    attempts = [document["attempt_count"] for document in documents]
    assert attempts == [1] * 11 + [0], "settled work is not done again"


def test_a_retry_brings_the_next_version_in_the_foreground_and_is_told_once(desktop):
    desktop.write_calls(3)
    script = desktop.folder / "script.json"
    script.write_text(json.dumps({"documents": {"acme/call-01.txt": [{"do": "fail", "code": "not_a_call"}]}}))
    desktop.write_settings(script=str(script))
    first = desktop.ask("run", "calls", "--profile", "scripted", "--key", "night")
    assert first["error_codes"] == {"not_a_call": 1}
    desktop.ask("retry", "night", "--code", "worker_lost", "--out", "out", code=2)

    script.write_text("{}")
    second = desktop.ask("retry", "night", "--code", "not_a_call", "--out", "out")
    assert (second["export_version"], second["supersedes"]) == (2, first["export_id"])
    assert second["counts"]["succeeded"] == 3
    assert desktop.ask("verify", "out", "calls")["rows"] == 3
    [row] = json.loads((desktop.folder / "out" / "diff.json").read_bytes())["rows"]
    assert row["document_id"] == "acme/call-01.txt"
    assert desktop.ask("retry", "night", "--code", "not_a_call", "--out", "out") == second
    assert desktop.ask("status", "night")["successor"] == second["job_id"]
    assert f"retries job {first['job_id']}" in desktop.call("status", second["job_id"])
    assert desktop.ask("export", "night", "--out", "out")["export_version"] == 1
    assert not (desktop.folder / "out" / "diff.json").exists()
    assert desktop.processes() == []


def test_a_run_whose_workers_die_for_good_says_so(desktop):
    desktop.write_calls(1)
    broken = desktop.folder / "broken"
    broken.mkdir()
    (broken / "sitecustomize.py").write_text("import sys\nif 'celery' in sys.orig_argv: sys.exit('no worker today')\n")
    desktop.env["PYTHONPATH"] = str(broken)
    running = desktop.start("run", "calls")
    out, err = running.communicate(timeout=LIMIT_SECONDS)
    assert (running.returncode, out) == (1, "")
    assert "ends again and again: read .callfold/logs/" in err.splitlines()[-1]
    assert desktop.processes() == []


def test_a_stack_is_kept_up_watched_and_taken_down(desktop):
    desktop.write_calls(2)
    up = desktop.ask("up")
    assert up["started"]
    programs = {"process", "alone", "control", "beat", "reconcile", "flower"}
    assert {part["name"] for part in up["parts"]} == {"postgres", "redis"} | programs
    again = desktop.ask("up")
    assert (again["pid"], again["started"]) == (up["pid"], False)
    wait_for(desktop.is_well, LIMIT_SECONDS)

    job = desktop.ask("submit", "calls")
    assert job["created"]
    assert not desktop.ask("submit", "calls")["created"]
    assert desktop.call("watch", job["key"]) == "completed: 2 succeeded, 0 failed, 0 skipped\n"
    assert desktop.ask("status", str(job["job_id"])[:6])["export"] is not None
    assert desktop.ask("show", job["key"], "acme/call-01.txt")["attempts"][0]["outcome"] == "succeeded"
    assert desktop.ask("run", "calls")["job_id"] == job["job_id"]
    desktop.call("cancel", job["key"], code=1)

    _check_flower(desktop, up["flower"])
    assert desktop.ask("down") == {"stopped": True}
    assert desktop.processes() == []
    assert not desktop.ask("doctor", code=1)[0]["ok"]


def _check_flower(desktop, shown):
    address, user, password = (words.split()[-1] for words in shown.split(", "))
    wait_for(lambda: _get(address, user, password) == 200)
    assert _get(address, user, "wrong") == 401
    assert not any(password in " ".join(process.cmdline()) for process in desktop.processes())


def _get(address, user, password):
    credentials = base64.b64encode(f"{user}:{password}".encode()).decode()
    request = urllib.request.Request(f"{address}/workers", headers={"Authorization": f"Basic {credentials}"})  # noqa: S310 - the loopback address that `up` printed
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:  # noqa: S310 - see above
            return answer.status
    except urllib.error.HTTPError as refused:
        refused.close()
        return refused.code
    except urllib.error.URLError:
        return None


def _traces(process):
    """The arguments and the data folder by which a process belongs to a desktop."""
    try:
        return " ".join((*process.cmdline(), process.environ().get("CALLFOLD_DATA_DIR", "")))
    except (psutil.NoSuchProcess, psutil.ZombieProcess, psutil.AccessDenied):
        return ""


def _read(path):
    return path.read_text() if path.exists() else ""
