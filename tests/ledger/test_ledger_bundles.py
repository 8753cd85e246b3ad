"""What a bundle is made of is all there, and stays the same whatever comes late."""

import json
import tempfile
from pathlib import Path
from uuid import uuid4

import pytest
from ledger_bench import OFFER, Does, work_off
from ledger_rows import item, rows, submitted, update, value

from exports.freeze import freeze
from exports.seal import MANIFEST, SEAL
from pipeline.domain.results import ManifestRow, Summary, Usage
from pipeline.errors import GivenBack, ItemFailure, StaleArrow
from pipeline.ledger import items, jobs, reduction, views
from pipeline.ledger import reconcile as due
from pipeline.ledger.items import Outcome
from pipeline.stages.admit import admit
from pipeline.stages.amend import amend
from pipeline.stages.process import process
from pipeline.stages.reconcile import reconcile
from pipeline.stages.reduce import reduce
from pipeline.stages.submit import submit
from pipeline.summarizers.port import Demand, Step
from pipeline.transcripts.batch import read_paths


@pytest.fixture
def folder():
    with tempfile.TemporaryDirectory(prefix="callfold-") as name:
        yield Path(name)


def test_a_reducer_whose_rows_another_has_swept_completes_nothing(ledger, settings, bench):
    job_id = submitted(ledger, settings, 2, concurrency=1)
    work_off(bench(), admit(ledger, job_id).released[0])
    reduce_id = uuid4()
    with ledger.transaction() as tx:
        reduction.write_group(tx, job_id, reduce_id, [reduction.MergedRow(0, "cf1-a", "{}")], [(0, "[]")])
    with ledger.transaction() as tx:
        reduction.discard(tx, job_id)
    with pytest.raises(StaleArrow), ledger.transaction() as tx:
        jobs.complete(tx, jobs.lock(tx, job_id), reduce_id, 1, 1)
    assert reduce(ledger, job_id)
    assert value(ledger, "SELECT merged_rows FROM jobs") == value(ledger, "SELECT count(*) FROM merged_actions") == 1


def test_a_result_that_comes_after_the_export_changes_no_byte_of_it(ledger, settings, folder):
    job_id = submitted(ledger, settings, 1, deadline_seconds=3_600)
    (released,) = admit(ledger, job_id).released
    with ledger.statement() as tx:
        started = items.start(tx, released, attempt_id=uuid4(), worker="w", lease=60.0, attempt_seconds=600.0)
    update(ledger, "jobs", "created_at = created_at - interval '2 hours', expires_at = clock_timestamp()", "true")
    reconcile(ledger, 60.0, "w")
    reduce(ledger, job_id)
    first = freeze(ledger, folder / "one", job_id)
    late = Outcome("succeeded", result_hash="h", summary="late", actions="[]", warnings="[]", input_tokens=7, model="m")
    with ledger.statement() as tx:
        assert items.keep_late(tx, started.attempt_id, late)
    assert freeze(ledger, folder / "two", job_id) == first
    for name in (MANIFEST, SEAL):
        one, two = ((folder / host / str(job_id) / "v1" / name).read_bytes() for host in ("one", "two"))
        assert one == two


def test_a_result_that_postgresql_refuses_ends_the_attempt_and_is_not_paid_for_again(ledger, settings, bench):
    job_id = submitted(ledger, settings, 1)
    (released,) = admit(ledger, job_id).released
    done = process(bench(summarizer=Unstorable()), released)
    assert done.settled
    assert item(ledger, job_id).state == "released"  # at once, for its second and last try
    assert rows(ledger, "SELECT outcome, error_code FROM attempts") == [("requeued", "internal_error")]


@pytest.mark.parametrize(("request_id", "told"), [("id", 7), ("i\0d", None)])
def test_what_the_calls_of_a_refused_result_took_is_known_unless_they_are_what_is_refused(
    ledger, settings, bench, request_id, told
):
    job_id = submitted(ledger, settings, 1)
    process(bench(summarizer=Unstorable(request_id)), admit(ledger, job_id).released[0])
    assert rows(ledger, "SELECT outcome, input_tokens FROM attempts") == [("requeued", told)]
    assert rows(ledger, "SELECT input_tokens FROM calls") == ([(told,)] if told else [])


def test_the_rows_usage_is_of_all_attempts_that_settled_and_sums_to_the_jobs(ledger, settings, bench, folder):
    """Its documents are given back, tried again, and done at once; a retry carries them over as they are."""
    turns = {"doc-0": ["back", None], "doc-1": ["provider_unavailable", "back", "not_a_call"], "doc-2": [None]}

    def do(request, attempt):
        turn = turns[request.fields.document_id].pop(0)
        with attempt.call(Step("map"), Demand(10, 10)) as call:
            call.usage = Usage(input_tokens=7, cached_tokens=2, output_tokens=3, cost_usd=0.1)
        with attempt.call(Step("map", 1), Demand(10, 10)):
            if turn == "back":
                raise GivenBack("our own sentence")
            if turn is not None:
                raise ItemFailure(turn, "our own sentence")

    worker, job_id = bench(summarizer=Does(do)), submitted(ledger, settings, 3, concurrency=1)
    work_off(worker, admit(ledger, job_id).released[0])
    while value(ledger, "SELECT pending FROM jobs WHERE job_id = %s", job_id):
        update(ledger, "items", "available_at = clock_timestamp()", "state = 'pending'")
        for command in reconcile(ledger, settings.lease_seconds, "w"):
            if hasattr(command, "released"):
                work_off(worker, command.released)
    reduce(ledger, job_id)
    freeze(ledger, folder, job_id)
    assert [len(left) for left in turns.values()] == [0, 0, 0]

    found = usage_of_rows(folder, job_id, 1)
    assert [one.input_tokens for one in found] == [14, 21, 7]
    with ledger.statement() as tx:
        whole = views.job(tx, job_id, 60.0).usage
    assert Usage.total(found).model_copy(update={"cost_usd": whole.cost_usd}) == whole
    assert sum(one.cost_usd for one in found) == pytest.approx(whole.cost_usd)

    turns["doc-1"] = ["not_a_call"]
    second = amend(ledger, settings.model_copy(update={"profiles": {}}), job_id).job_id
    work_off(worker, admit(ledger, second).released[0])
    reduce(ledger, second)
    freeze(ledger, folder, second)
    again = usage_of_rows(folder, second, 2)
    assert (again[0], again[2]) == (found[0], found[2])
    assert again[1].input_tokens == 7


def usage_of_rows(folder, job_id, version):
    lines = (folder / str(job_id) / f"v{version}" / MANIFEST).read_text().splitlines()
    return [ManifestRow.model_validate_json(line).usage for line in lines]


class Unstorable:
    """Pays a call for a result that PostgreSQL cannot hold."""

    def __init__(self, request_id="id"):
        self.request_id = request_id

    def summarize(self, _request, attempt):
        with attempt.call(Step("summary")) as call:
            call.request_id, call.usage = self.request_id, Usage(input_tokens=7, output_tokens=3)
        return Summary.model_construct(summary="An offer.", actions=(OFFER,), model="a\0b", warnings=())


def test_a_whole_id_wins_over_a_key_that_looks_like_it(ledger, settings):
    job_id = submitted(ledger, settings, 1)
    other = submitted(ledger, settings, 1, key=str(job_id))
    with ledger.statement() as tx:
        assert views.find_job(tx, str(job_id)) == job_id
        assert views.find_job(tx, str(other)[:12]) == other


def test_no_query_of_a_tick_reads_a_whole_table_that_grows(ledger, settings):
    """The plan without sequential scans is there for each: an index serves it."""
    job_id = submitted(ledger, settings, 1)
    admit(ledger, job_id)
    with ledger.transaction() as tx:
        tx.exec_driver_sql("SET LOCAL enable_seqscan = off")
        statement = due._UNSTARTED.format(bound=due.BOUND)
        plan = tx.exec_driver_sql("EXPLAIN " + statement, {"lease": 60.0, "grace": 5.0, "longest": 900.0})
        text = "\n".join(row[0] for row in plan)
    assert "Seq Scan" not in text
    assert "attempts_started_at_idx" in text


def test_what_was_doubtful_about_a_file_stands_in_its_row_of_the_manifest(ledger, settings, folder, bench):
    """From the bytes to the bundle: what was lost, collapsed and merged on reading, and who can own nothing."""
    calls = folder / "acme"
    calls.mkdir()
    loop = "ANNA: " + "Thank you. " * 20
    (calls / "call.txt").write_bytes(f"Anna: Schöne Grüße.\n{loop}\nAnna: We signed.\n".encode("cp1252"))
    job_id = submit(ledger, settings, read_paths([calls]), {}, "k").job_id
    work_off(bench(), admit(ledger, job_id).released[0])
    reduce(ledger, job_id)
    freeze(ledger, folder, job_id)
    (row,) = (folder / str(job_id) / "v1" / MANIFEST).read_bytes().splitlines()
    found = [(warning["code"], warning["place"]) for warning in json.loads(row)["warnings"]]
    assert found == [
        ("lossy_decoding", "cp1252"),
        ("speakers_merged", "1 spellings"),
        ("loop_collapsed", "turn 1"),
        ("speakers_collapsed", "3 turns"),
    ]
    assert "Thank" not in json.dumps(found)
