"""`callfold tune` and `callfold estimate` as a person types them: real workers, a ledger, and nobody told."""

import json
import signal

import pytest
from crew import wait_for
from desktop import LIMIT_SECONDS

from benchmarks.model_server import answer, reply, serving

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


def by_a_model(desktop, server):
    profile = {"summarizer": "openai_chat", "model": "m", "base_url": server.url, "prices": {"input": 1, "output": 4}}
    desktop.env |= {"CALLFOLD_PROFILES": json.dumps({"nightly": profile}), "CALLFOLD_PROCESS_SLOTS": "8"}


def test_the_recommended_concurrency_stays_below_what_a_provider_refuses(desktop):
    desktop.write_calls(24)
    refusal = [reply(429, {"error": {"code": "rate_limit_exceeded"}}, {"retry-after": "60"})]
    with serving(lambda asked: refusal if asked.at_once > 5 else answer(asked, 0.2)) as server:
        by_a_model(desktop, server)
        refused = desktop.ask("tune", "nightly", "calls", code=2)
        assert refused["message"].startswith("--yes: it takes at most 46 documents in 4 steps, about ")
        assert server.asked == []
        found = desktop.ask("tune", "nightly", "calls", "--yes")
    steps = found["steps"]
    assert [step["concurrency"] for step in steps] == [1, 2, 4, 8]
    assert [step["trouble"] for step in steps[:3]] == [None] * 3
    assert steps[3]["codes"]["rate_limited"] >= 1
    assert 1 <= found["recommended"] < 4
    again = desktop.ask("tune", "nightly", "calls", "--yes", code=2)
    assert "the gate of nightly is shut (rate_limited): " in again["message"], "the refusal pauses it for all"
    assert desktop.processes() == []


def test_what_tuning_takes_stays_within_its_budget(desktop):
    desktop.write_calls(10)
    with serving() as server:
        by_a_model(desktop, server)
        each = desktop.ask("estimate", "calls", "--profile", "nightly")["tokens"]
        six = 6 * (each["input"] + each["output_cap"]) // 10
        found = desktop.ask("tune", "nightly", "calls", "--budget-tokens", str(six))
        taken = sum(len(asked.words) // 4 + asked.pieces for asked in server.asked)
    assert taken <= six
    assert found["steps"][0]["documents"] == 4
    assert all(step["trouble"] is None or "budget_exhausted" in step["codes"] for step in found["steps"])


def test_an_estimate_is_what_the_run_then_reserves_and_knows_the_next_time(desktop):
    desktop.write_calls(5)
    (desktop.folder / "calls" / "acme" / "dropped.txt").write_text("")
    with serving() as server:
        by_a_model(desktop, server)
        before = desktop.ask("estimate", "calls", "--profile", "nightly")
        assert server.asked == []
        job = desktop.ask("run", "calls", "--profile", "nightly")
        assert before["calls"] == len(server.asked) == 10
    assert (before["documents"], before["faults"], before["known_calls"]) == (5, {"empty_input": 1}, 0)

    calls = [
        call
        for number in range(5)
        for attempt in desktop.ask("show", job["job_id"], f"acme/call-{number:02}.txt")["attempts"]
        for call in attempt["calls"]
    ]
    # The fence around the words is made up anew each time: a few of its tokens differ.
    demanded = before["tokens"]["input"] + before["tokens"]["output_cap"]
    assert sum(call["reserved_tokens"] for call in calls) == pytest.approx(demanded, rel=0.02)
    assert sum(call["reserved_usd"] for call in calls) == pytest.approx(before["money"]["most"], rel=0.02)

    after = desktop.ask("estimate", "calls", "--profile", "nightly")
    assert after["known_calls"] == 10
    assert after["tokens"]["output_expected"] == sum(call["output_tokens"] for call in calls)
    assert after["time"]["expected"] > 0
    assert after["budget"]["tokens"] > demanded


def test_an_interrupted_tuning_leaves_no_job_behind_that_goes_on_paying(desktop):
    desktop.write_calls(4)
    with serving(lambda asked: answer(asked, 1.0)) as server:
        by_a_model(desktop, server)
        running = desktop.start("tune", "nightly", "calls", "--yes")
        wait_for(lambda: server.asked, LIMIT_SECONDS)
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=LIMIT_SECONDS)
    assert running.returncode == 130
    [job] = desktop.ask("jobs")
    assert (job["state"], job["counts"]["pending"]) == ("cancelled", 0)
    assert desktop.processes() == []
