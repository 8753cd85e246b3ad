"""A machine that dies in the middle of `callfold run`, and the same command once more."""

import json
from contextlib import suppress

import psutil
import pytest
from crew import wait_for
from desktop import LIMIT_SECONDS

LANES = 8


@pytest.mark.timeout(600)
def test_a_run_of_400_killed_in_the_middle_asks_again_only_for_what_was_in_hand(desktop):
    desktop.write_calls(400)
    desktop.env |= {"CALLFOLD_LEASE_SECONDS": "3", "CALLFOLD_PROCESS_SLOTS": str(LANES)}
    go, journal = desktop.folder / "go", desktop.folder / "calls.ndjson"
    first = {f"acme/call-{n:03}.txt": [{"do": "succeed"}] for n in range(200)}
    script = {"journal": str(journal), "documents": first, "default": [{"do": "succeed", "until": str(go)}]}
    (desktop.folder / "script.json").write_text(json.dumps(script))
    desktop.write_settings(script=str(desktop.folder / "script.json"))
    command = ("run", "calls", "--profile", "scripted", "--concurrency", str(LANES), "--key", "night")

    running = desktop.start(*command)
    wait_for(lambda: _lines(journal) == 200 + LANES, LIMIT_SECONDS)
    for process in (running, *desktop.processes()):
        with suppress(psutil.NoSuchProcess):
            process.kill()
    running.communicate()
    go.touch()

    assert desktop.ask(*command)["counts"] == {"total": 400, "succeeded": 400, "failed": 0, "skipped": 0}
    assert _lines(journal) <= 400 * 1.02


def _lines(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0
