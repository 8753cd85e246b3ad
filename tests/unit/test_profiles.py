"""A profile is refused when it is read, not when a call was paid for, and tells none of its secrets."""

import json

import pytest

from pipeline.errors import InvalidRequest
from pipeline.settings import Profile, Settings, load

GOOD = {"summarizer": "openai_chat", "model": "m", "base_url": "http://127.0.0.1:9/v1"}


def refused(monkeypatch, tmp_path, changes):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CALLFOLD_PROFILES", json.dumps({"night": GOOD | changes}))
    with pytest.raises(InvalidRequest) as refusal:
        load()
    return str(refusal.value)


@pytest.mark.parametrize(
    "changes",
    [
        {"seed": 2**63},
        {"seed": -(2**63) - 1},
        {"call_seconds": float("inf")},
        {"idle_seconds": float("nan")},
        {"requests_per_minute": float("inf")},
        {"temperature": float("nan")},
        {"prices": {"input": float("inf"), "output": 1.0}},
        {"context_tokens": 10**30},
        {"max_input_tokens": 10**30},
        {"base_url": "https://user:secret@host/v1"},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_what_no_call_and_no_ledger_can_hold_is_refused_by_its_name(monkeypatch, tmp_path, changes):
    said = refused(monkeypatch, tmp_path, changes)
    assert f"profiles.night.{next(iter(changes))}" in said
    assert "secret" not in said


def test_a_call_that_its_attempt_would_cut_is_refused_by_both_names(monkeypatch, tmp_path):
    monkeypatch.setenv("CALLFOLD_ATTEMPT_SECONDS", "120")
    said = refused(monkeypatch, tmp_path, {"call_seconds": 120.5})
    for part in ("profile night", "call_seconds, 120.5", "CALLFOLD_ATTEMPT_SECONDS", "at 120"):
        assert part in said
    for fits in ({"call_seconds": 120}, {"call_seconds": 500, "summarizer": "extractive"}):
        monkeypatch.setenv("CALLFOLD_PROFILES", json.dumps({"night": GOOD | fits}))
        assert load().profile("night").call_seconds == fits["call_seconds"]


def test_the_largest_seed_is_taken(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CALLFOLD_PROFILES", json.dumps({"night": GOOD | {"seed": 2**63 - 1}}))
    assert load().profile("night").seed == 2**63 - 1


def test_no_secret_of_a_profile_is_printed_with_it():
    profile = Profile(
        summarizer="openai_chat", model="m", base_url="https://model.test/v1?code=hidden", api_key="hidden too"
    )
    settings = Settings(profiles={"nightly": profile}, DATABASE_URL=None)
    for printed in (repr(profile), str(profile), repr(settings), str(settings)):
        assert "hidden" not in printed
