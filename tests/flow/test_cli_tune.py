"""`callfold tune` and `callfold estimate` as a person types them: real workers, a ledger, and nobody told."""

import json

import pytest

pytestmark = pytest.mark.timeout(600)


def test_a_profile_is_tuned_on_real_workers_until_it_refuses_and_nobody_is_told(desktop):
    desktop.write_calls(20)
    refusing = [{"do": "fail", "code": "rate_limited", "retry_after": 60}]
    slow = [{"do": "succeed", "seconds": 0.2}]
    # The first steps take four and six documents in turn: this one is of the third.
    script = {"default": slow, "documents": {"acme/call-12.txt": refusing}}
    (desktop.folder / "script.json").write_text(json.dumps(script))
    told = desktop.folder / "told.ndjson"
    desktop.write_settings(script=str(desktop.folder / "script.json"), on_complete=str(told))

    found = desktop.ask("tune", "scripted", "calls")
    first, second, third = found["steps"]
    assert [step["concurrency"] for step in found["steps"]] == [1, 2, 4]
    assert (first["documents"], second["documents"]) == (4, 6)
    assert first["trouble"] is None
    assert second["trouble"] is None
    assert first["median_latency"] >= 0.2
    assert first["memory"] > 2**20
    assert third["codes"] == {"rate_limited": 1}
    assert found["recommended"] == 1
    assert found["why"].endswith("at 4: 1 rate_limited")

    jobs = desktop.ask("jobs")
    assert {job["state"] for job in jobs[1:]} == {"completed"}
    assert jobs[0]["state"] == "cancelled", "a step that is refused is cut short"
    assert all(job["idempotency_key"].startswith("callfold-tune-scripted-") for job in jobs)
    assert not told.exists()
    assert desktop.processes() == []

    estimated = desktop.ask("estimate", "calls", "--profile", "scripted")
    assert estimated["documents"] == 20
    assert estimated["time"]["latency"] >= 0.2, "the ledger's own calls say it"
    assert estimated["time"]["expected"] >= 20 * 0.2 / 8
    assert desktop.ask("estimate", "calls", "--profile", "scripted", "--latency", "6")["time"]["expected"] == 15.0
    assert len(desktop.ask("jobs")) == len(jobs), "an estimate stores nothing"
