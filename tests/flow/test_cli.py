"""The commands as a person types them, on embedded stacks of their own: run, Ctrl-C and run again, up, doctor, down."""

import base64
import json
import signal
import urllib.error
import urllib.request

import pytest
from crew import wait_for
from desktop import LIMIT_SECONDS

pytestmark = pytest.mark.timeout(600)


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


def _read(path):
    return path.read_text() if path.exists() else ""
