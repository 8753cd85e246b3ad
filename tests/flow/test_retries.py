"""A retry with real workers: the next version works on what failed, and leaves the version before as it was."""

import json

from scripted import call, follow_up, succeed

from pipeline.stages.amend import amend

PROMISE = "I will send the security paper on Monday."
SENT = succeed(follow_up("Send the security paper", PROMISE))
#: A document's script begins anew with each job, so each job gets its own.
NIGHT = {
    "default": [SENT],
    "documents": {
        "rejected": [{"do": "fail", "code": "not_a_call"}],
        "never": [{"do": "fail", "code": "too_short"}],
    },
}
MORNING = {"default": [SENT], "documents": {"never": [{"do": "fail", "code": "too_short"}]}}


def documents():
    return [call(name, PROMISE) for name in ("first", "rejected", "never", "last")]


def test_a_retry_calls_for_the_others_only_and_freezes_the_next_version(crew, open_desk, broker):
    crew.work(NIGHT, broker=broker)
    desk = open_desk()
    first = desk.submit(documents(), require="all")
    before = desk.bundle(first)
    untouched = {path.name: path.read_bytes() for path in before.folder.iterdir()}
    crew.work(MORNING, broker=broker)

    second = amend(desk.ledger, desk.settings, first)
    assert second.created
    desk.send("admit", second.job_id)
    with desk.watched(second.job_id):
        after = desk.bundle(second.job_id)

    assert sorted(one["document_id"] for one in crew.calls()) == ["never", "rejected"]
    assert {path.name: path.read_bytes() for path in before.folder.iterdir()} == untouched
    assert (after.seal["export_version"], after.seal["supersedes"]) == (2, before.seal["export_id"])
    assert [(row["state"], row["error_code"]) for row in after.rows] == [
        ("succeeded", None),
        ("succeeded", None),
        ("failed", "too_short"),
        ("succeeded", None),
    ]
    for place in (0, 3):
        ids = {name: before.rows[place][name] for name in ("job_id", "export_id", "export_version")}
        assert after.rows[place] | ids == before.rows[place]
    diff = json.loads((after.folder / "diff.json").read_bytes())
    assert [(one["document_id"], one["from"]["error_code"], one["to"]["error_code"]) for one in diff["rows"]] == [
        ("rejected", "not_a_call", None),
        ("never", "too_short", "too_short"),
    ]
    [action] = after.actions
    assert [one["action_key"] for one in before.actions] == [action["action_key"]] == diff["changed"]
    assert action["source_document_ids"] == ["first", "rejected", "last"]
    assert (diff["dispositions"], diff["added"], diff["removed"], diff["replaced"]) == ([], [], [], [])


def test_a_retry_that_nobody_was_told_of_is_noticed_and_done(crew, open_desk):
    crew.work(NIGHT)
    desk = open_desk()
    first = desk.submit(documents(), concurrency=1)
    desk.bundle(first)
    crew.work(MORNING)
    second = amend(desk.ledger, desk.settings, first, ["not_a_call"], {"concurrency": 2}).job_id
    after = desk.bundle(second)
    assert [row["error_code"] for row in after.rows] == [None, None, "too_short", None]
    assert desk.job(first).successor == str(second)
