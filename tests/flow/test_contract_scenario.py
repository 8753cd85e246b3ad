"""The scenario of the contract: one discovery, one quote that is rate limited, one legal call that never validates."""

from datetime import timedelta

import pytest
from scripted import call, follow_up, succeed, until

PROMISE = "I will send the security paper on Monday."
PRICE = "We will quote the yearly plan for forty seats."
#: Longer than our own backoff of a first try: what is waited is the provider's word.
RETRY_AFTER = 1.5

SCRIPT = {
    "documents": {
        "discovery": [succeed(follow_up("Send the security paper", PROMISE))],
        "quote": [
            {"do": "fail", "code": "rate_limited", "retry_after": RETRY_AFTER, **until("seen")},
            succeed(follow_up("Quote the yearly plan", PRICE)),
        ],
        "legal": [{"do": "succeed", "raw": '{"summary": 7}', **until("seen")}],
    }
}


def documents():
    return [call("discovery", PROMISE), call("quote", PRICE), call("legal", "Our lawyers have read the contract.")]


@pytest.mark.parametrize("require", ["any", "all"])
def test_three_calls_give_three_rows_and_say_which_one_is_missing(crew, open_desk, broker, require):
    crew.work(SCRIPT, broker=broker)
    desk = open_desk()
    job_id = desk.submit(documents(), key="tuesday", require=require)
    with desk.watched(job_id):
        desk.until_settled(job_id, 1)
        assert [item.document_id for item in desk.items(job_id) if item.state == "succeeded"] == ["discovery"]
        again = desk.store(documents(), key="tuesday", require=require)
        assert (again.job_id, again.created) == (job_id, False)
        crew.give("seen")
        bundle = desk.bundle(job_id)

    assert [(row["document_id"], row["state"], row["error_code"], row["attempt_count"]) for row in bundle.rows] == [
        ("discovery", "succeeded", None, 1),
        ("quote", "succeeded", None, 2),
        ("legal", "failed", "invalid_output", 1),
    ]
    check_the_wait(desk, [attempt for attempt in desk.attempts(job_id) if attempt.position == 1])
    assert [action["text"] for action in bundle.actions] == ["Send the security paper", "Quote the yearly plan"]
    for action in bundle.actions:
        assert action["group"]["complete"] is False
        assert action["group"]["missing"] == [{"document_id": "legal", "error_code": "invalid_output"}]
        assert action["disposition"] == ("proposed" if require == "any" else "review_only")
        assert action["reasons"] == ([] if require == "any" else ["group_incomplete"])
    assert [(one["document_id"], one["sequence"]) for one in crew.calls() if one["document_id"] == "legal"] == [
        ("legal", 1),
        ("legal", 2),
        ("legal", 3),
    ]
    assert desk.job(job_id).state == "completed"
    assert desk.store(documents(), key="tuesday", require=require).job_id == job_id


def check_the_wait(desk, quotes):
    """The rate-limited call came back when the provider's gate opened, and the gate was closed for as long as asked."""
    limited, again = quotes
    [(paused_until,)] = desk.query("SELECT paused_until FROM gates")
    assert limited.ended_at + timedelta(seconds=RETRY_AFTER) <= paused_until <= again.started_at
