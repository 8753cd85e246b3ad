"""The diff names all that changed since the superseded export, and nothing else."""

import json

import pytest
from exports_samples import NEXT_EXPORT, files, freeze, plain_header, plain_record, successor_job

from exports.diff import Content, Difference
from exports.durable import HashedFile
from exports.seal import DIFF, MANIFEST
from pipeline.errors import ExportError

HEADER = plain_header(2, export_version=2, supersedes="the one before")
KEYS = [f"cf1-{number:040x}" for number in range(9)]


@pytest.fixture
def difference(tmp_path):
    """What the diff says of two exports: difference(old records, new records, old actions, new actions)."""

    def between(old, new, old_actions=(), new_actions=()):
        with Difference(Content(old, old_actions)) as watching:
            assert list(watching.rows(new)) == list(new)
            assert list(watching.actions(new_actions)) == list(new_actions)
            path = tmp_path / f"{len(list(tmp_path.iterdir()))}.json"
            with HashedFile(path) as out:
                watching.write(out, HEADER)
        found = json.loads(path.read_bytes())
        return {name: entries for name, entries in found.items() if isinstance(entries, list)}

    return between


def nothing(**found):
    return {"rows": [], "dispositions": [], "added": [], "removed": [], "changed": [], "replaced": []} | found


def action(number, account="acme", replaces=(), **fields):
    group = {"account_id": account, "consent_scope": "default", "retention_class": "default"}
    ids = {"job_id": "any", "export_id": fields.pop("export_id", "any")}
    return json.dumps({**ids, "action_key": KEYS[number], "group": group, "replaces": list(replaces), **fields})


def stored(*actions):
    return json.dumps(
        [{"action_key": KEYS[number], "disposition": where, "reasons": why} for number, where, why in actions]
    )


def test_equal_exports_differ_in_nothing(difference):
    records = [plain_record(0), plain_record(1, actions_json=stored((0, "proposed", [])))]
    new = [action(0, export_id="new")]
    assert difference(records, records, [action(0, export_id="old")], new) == nothing()


def test_a_row_whose_result_is_another_is_named_even_where_it_ended_alike(difference):
    failed = plain_record(0, state="failed", error_code="too_short", summary=None)
    again = failed._replace(attempt_count=2)
    end = {"state": "failed", "error_code": "too_short"}
    assert difference([failed], [again]) == nothing(rows=[{"document_id": "call-0", "from": end, "to": end}])
    (row,) = difference([failed], [plain_record(0)])["rows"]
    assert row["to"] == {"state": "succeeded", "error_code": None}


def test_an_action_that_stands_otherwise_is_named_with_its_key_before(difference):
    old = plain_record(0, actions_json=stored((0, "proposed", []), (1, "review_only", ["quote_not_found"])))
    new = old._replace(actions_json=stored((0, "proposed", []), (2, "proposed", [])))
    assert difference([old], [new]) == nothing(
        dispositions=[
            {
                "document_id": "call-0",
                "action_key": KEYS[2],
                "from": {"disposition": "review_only", "reasons": ["quote_not_found"]},
                "to": {"disposition": "proposed", "reasons": []},
                "replaces": KEYS[1],
            }
        ]
    )


def test_a_row_whose_actions_say_something_else_is_named_as_a_row(difference):
    old = plain_record(0, actions_json=stored((0, "proposed", [])))
    assert difference([old], [old._replace(actions_json="[]")])["rows"]


def test_merged_actions_are_compared_group_by_group_wherever_they_stand(difference):
    old = [action(0, "a", text="x"), action(1, "b"), action(2, "b"), action(3, "b"), action(4, "c")]
    new = [action(5, "aa"), action(2, "b", [KEYS[1]]), action(3, "b"), action(6, "d")]
    assert difference([], [], old, new) == nothing(
        added=[KEYS[5], KEYS[6]],
        removed=[KEYS[0], KEYS[4]],
        changed=[KEYS[2]],
        replaced=[{"action_key": KEYS[1], "by": KEYS[2]}],
    )


def test_what_was_replaced_before_is_not_replaced_again(difference):
    actions = [action(0, replaces=[KEYS[1]])]
    assert difference([], [], actions, actions) == nothing()


@pytest.mark.parametrize("records", [[], [plain_record(0), plain_record(1)], [plain_record(0, document_id="other")]])
def test_another_jobs_rows_are_no_predecessors(records):
    with Difference(Content([plain_record(0)], [])) as watching, pytest.raises(ExportError, match="other documents"):
        list(watching.rows(records))


def test_more_changes_than_fit_into_memory_are_written_all_the_same(difference):
    old = [plain_record(place, state="failed", error_code="too_short") for place in range(9_000)]
    new = [plain_record(place) for place in range(9_000)]
    rows = difference(old, new)["rows"]
    assert [row["document_id"] for row in rows] == [record.document_id for record in new]


def test_freezing_a_successor_again_gives_the_same_bytes_and_names_every_row_that_is_not_the_same(tmp_path):
    job = successor_job()
    freeze(tmp_path / "v1", job)
    freeze(tmp_path / "again", job)
    assert files(tmp_path / "v1") == files(tmp_path / "again")
    named = {row["document_id"] for row in json.loads((tmp_path / "v1" / DIFF).read_bytes())["rows"]}
    for line in (tmp_path / "v1" / MANIFEST).read_bytes().splitlines():
        row = json.loads(line)
        assert row["export_id"] == NEXT_EXPORT
        old = job.before.records[row["position"]]
        assert (row["document_id"] in named) == (
            old._replace(actions_json="") != job.records[row["position"]]._replace(actions_json="")
        )
