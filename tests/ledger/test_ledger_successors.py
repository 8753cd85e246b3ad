"""Successor jobs: what did not succeed is worked on again, every other row stands as it was, and each version once."""

import json
import random
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from uuid import uuid4

import pytest
from ledger_bench import OFFER, SENTENCE, work_off
from ledger_rows import all_items, check, document, rows, submitted, update, value

from exports.freeze import folder_of, freeze
from exports.seal import ACTIONS, DIFF, MANIFEST, SEAL
from exports.verify import verify
from pipeline.domain.actions import ProposedAction, Quote
from pipeline.domain.documents import Fault, Transcript, Turn
from pipeline.domain.results import Summary
from pipeline.errors import IdempotencyConflict, InvalidRequest, JobNotTerminal, LedgerUnavailable, NotFound
from pipeline.ledger import attempts, exports, views
from pipeline.ledger.connection import Ledger
from pipeline.stages.admit import admit
from pipeline.stages.amend import amend
from pipeline.stages.cancel import cancel
from pipeline.stages.process import process
from pipeline.stages.reduce import reduce
from pipeline.stages.submit import submit

#: Of every document that these tests hand in.
TRANSCRIPT = Transcript(turns=(Turn(text=SENTENCE),))
IDS = ("job_id", "export_id", "export_version")


@pytest.fixture
def folder():
    with tempfile.TemporaryDirectory(prefix="callfold-") as name:
        yield Path(name)


@pytest.fixture
def night(ledger, settings, bench, folder):
    """Jobs from their admission to their bundle."""
    return Night(ledger, settings, bench, folder)


class Night:
    def __init__(self, ledger, settings, bench, folder):
        self.ledger, self._settings, self.bench, self._folder = ledger, settings, bench, folder

    def submit(self, documents=3, *answers, **options):
        """A job whose documents get these answers, one after the other, and then its bundle."""
        return self.finish(submitted(self.ledger, self._settings, documents, concurrency=1, **options), *answers)

    def amend(self, job_id, *codes, **changes):
        return amend(self.ledger, self._settings, job_id, codes, changes)

    def work(self, job_id, *answers):
        """Returns what the summarizer was asked."""
        worker = self.bench(*answers)
        for released in admit(self.ledger, job_id).released:
            work_off(worker, released)
        return [request.fields.document_id for request in worker.summarizer("").requests]

    def finish(self, job_id, *answers):
        self.work(job_id, *answers)
        self.freeze(job_id)
        return job_id

    def freeze(self, job_id):
        reduce(self.ledger, job_id)
        check(self.ledger, job_id)
        verify(self.bundle(job_id), {f"doc-{number}": TRANSCRIPT for number in range(9)})

    def bundle(self, job_id):
        return folder_of(self._folder, freeze(self.ledger, self._folder, job_id))

    def rows(self, job_id):
        return lines(self.bundle(job_id) / MANIFEST)

    def actions(self, job_id):
        return lines(self.bundle(job_id) / ACTIONS)

    def diff(self, job_id):
        return json.loads((self.bundle(job_id) / DIFF).read_bytes())


def lines(path):
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def but_for(names, row):
    return {name: value for name, value in row.items() if name not in names}


def test_only_what_did_not_succeed_is_worked_on_again_and_the_other_rows_have_the_same_bytes(ledger, night):
    first = night.submit(4, Summary(summary="One.", actions=(OFFER,)), "too_short", "not_a_call", require="all")
    second = night.amend(first)
    assert second.created
    assert [item.state for item in all_items(ledger, second.job_id)] == ["succeeded", "pending", "pending", "succeeded"]
    assert night.work(second.job_id) == ["doc-1", "doc-2"]
    night.freeze(second.job_id)

    before, after = night.rows(first), night.rows(second.job_id)
    assert [row["state"] for row in after] == ["succeeded"] * 4
    assert [row["attempt_count"] for row in after] == [1] * 4
    standing = {"disposition", "reasons"}
    for place in (0, 3):
        old, new = (but_for(IDS, version[place]) for version in (before, after))
        assert but_for({"actions"}, old) == but_for({"actions"}, new)
        assert [but_for(standing, one) for one in old["actions"]] == [but_for(standing, one) for one in new["actions"]]
    diff = night.diff(second.job_id)
    assert [(one["document_id"], one["from"]["error_code"], one["to"]) for one in diff["rows"]] == [
        (name, code, {"state": "succeeded", "error_code": None})
        for name, code in (("doc-1", "too_short"), ("doc-2", "not_a_call"))
    ]
    key = before[0]["actions"][0]["action_key"]
    change = {
        "action_key": key,
        "from": {"disposition": "review_only", "reasons": ["group_incomplete"]},
        "to": {"disposition": "proposed", "reasons": []},
        "replaces": None,
    }
    assert diff["dispositions"] == [{"document_id": name, **change} for name in ("doc-0", "doc-3")]
    assert [action["action_key"] for action in night.actions(second.job_id)] == [key]
    assert (diff["changed"], diff["added"], diff["removed"], diff["replaced"]) == ([key], [], [], [])


def test_the_successor_supersedes_its_predecessor_whose_bundle_stays_as_it_is(night):
    first = night.submit(2, "too_short")
    before = {path.name: path.read_bytes() for path in night.bundle(first).iterdir()}
    second = night.amend(first).job_id
    night.finish(second)
    one, two = (json.loads((night.bundle(job_id) / SEAL).read_bytes()) for job_id in (first, second))
    assert (two["export_version"], two["supersedes"]) == (2, one["export_id"])
    assert {path.name: path.read_bytes() for path in night.bundle(first).iterdir()} == before
    assert DIFF not in before


def test_a_chain_carries_results_over_any_number_of_versions_and_its_keys_with_them(ledger, night):
    def found(number):
        return Summary(summary=f"Call {number}.", actions=(OFFER, offer(f"Call them {number} times", None)))

    first = night.submit(3, "too_short", "too_short", found(2))
    second = night.finish(night.amend(first).job_id, "too_short", found(1))
    third = night.finish(night.amend(second).job_id, found(0))
    one, two, three = versions = [night.rows(job_id) for job_id in (first, second, third)]
    assert [[row["state"][0] for row in version] for version in versions] == [list("ffs"), list("fss"), list("sss")]
    assert [row["attempt_id"] for row in three[1:]] == [two[1]["attempt_id"], one[2]["attempt_id"]]
    # The merged action begins with another call each time: its key stays that of the first.
    keys = [[action["action_key"] for action in version[2]["actions"]] for version in versions]
    assert keys[0] == keys[1] == keys[2]
    assert value(ledger, "SELECT count(*) FROM attempts WHERE outcome = 'succeeded'") == 3
    assert {row.root_job_id for row in rows(ledger, "SELECT root_job_id FROM jobs")} == {first}
    with ledger.statement() as tx:
        assert [one.outcome for one in attempts.history(tx, third, 2)] == ["succeeded"]
        assert views.job(tx, second, 60.0).predecessor == str(first)
        assert views.job(tx, second, 60.0).successor == str(third)


def offer(text, turn=0, **fields):
    quotes = () if turn is None else (Quote(quote=SENTENCE),)
    return ProposedAction(kind="follow_up", text=text, owner="Ann", quotes=quotes, **fields)


def test_with_codes_only_the_rows_that_ended_so_are_worked_on_again(ledger, night):
    first = night.submit(3, "too_short", "not_a_call", "too_short")
    second = night.amend(first, "too_short").job_id
    carried = "SELECT carried, error_code, attempt_count, charged FROM items WHERE job_id = %s ORDER BY position"
    assert rows(ledger, carried, second) == [(False, None, 0, 0), (True, "not_a_call", 1, 1), (False, None, 0, 0)]
    assert night.work(second) == ["doc-0", "doc-2"]
    night.freeze(second)
    assert but_for(IDS, night.rows(second)[1]) == but_for(IDS, night.rows(first)[1])


def test_a_document_without_words_stays_as_it_was_born(ledger, settings, night):
    empty = document(0).model_copy(
        update={"transcript": None, "fault": Fault(code="empty_input", detail="it is empty")}
    )
    first = submit(ledger, settings, [empty, document(1)], {"concurrency": 1}, "k").job_id
    night.finish(first, "too_short")
    second = night.amend(first).job_id
    assert night.work(second) == ["doc-1"]
    night.freeze(second)
    assert but_for(IDS, night.rows(second)[0]) == but_for(IDS, night.rows(first)[0])
    with pytest.raises(InvalidRequest, match="no document without a result whose words are known"):
        night.amend(second)
    assert value(ledger, "SELECT count(*) FROM jobs") == value(ledger, "SELECT count(*) FROM idempotency_keys") == 2


@pytest.mark.parametrize(
    ("codes", "said"),
    [(("nonsense",), "no error code nonsense; known: input_too_large, "), (("expired",), "ended with expired")],
)
def test_codes_that_nobody_knows_or_no_row_has_are_refused_and_nothing_is_stored(ledger, night, codes, said):
    first = night.submit(1, "too_short")
    with pytest.raises(InvalidRequest, match=said):
        night.amend(first, *codes)
    assert value(ledger, "SELECT count(*) FROM jobs") == value(ledger, "SELECT count(*) FROM idempotency_keys") == 1


def test_an_unfinished_job_an_unfrozen_one_and_an_unknown_one_cannot_be_retried(ledger, settings, night):
    job_id = submitted(ledger, settings, 1)
    with pytest.raises(JobNotTerminal, match="1 documents open"):
        night.amend(job_id)
    night.work(job_id, "too_short")
    reduce(ledger, job_id)
    with pytest.raises(JobNotTerminal, match="its export is not written yet"):
        night.amend(job_id)
    with pytest.raises(NotFound):
        night.amend(uuid4())


def test_options_are_inherited_and_concurrency_and_deadline_may_be_given_anew(ledger, night):
    first = night.submit(1, "too_short", require="all", deadline_seconds=600)
    update(ledger, "jobs", "concurrency = 3, created_at = created_at - interval '1 hour'", "true")
    update(ledger, "jobs", "expires_at = created_at + interval '600 s'", "true")
    job = "SELECT options, concurrency, require, expires_at - created_at, expires_at > clock_timestamp() FROM jobs"
    second = night.finish(night.amend(first).job_id, "too_short")
    options, concurrency, require, lasts, open_still = rows(ledger, job + " WHERE job_id = %s", second)[0]
    assert json.loads(options) == {"concurrency": 1, "require": "all", "deadline_seconds": 600}
    assert (concurrency, require, lasts.total_seconds(), open_still) == (3, "all", 600, True)
    third = night.amend(second, concurrency=5, deadline_seconds=60).job_id
    options, concurrency, _, lasts, _ = rows(ledger, job + " WHERE job_id = %s", third)[0]
    assert json.loads(options) == {"concurrency": 5, "require": "all", "deadline_seconds": 60}
    assert (concurrency, lasts.total_seconds()) == (5, 60)


def test_the_same_retry_again_is_the_same_job_whatever_has_become_of_it(night):
    first = night.submit(2, "too_short", "not_a_call")
    second = night.amend(first, "too_short", "not_a_call")
    again = night.amend(first, "not_a_call", "too_short", "too_short")
    assert (again.job_id, again.key, again.created) == (second.job_id, f"retry-{first}-v2", False)
    night.finish(second.job_id, "too_short")
    third = night.amend(second.job_id)
    assert night.amend(first, "too_short", "not_a_call").job_id == second.job_id
    assert night.amend(second.job_id).job_id == third.job_id


def test_another_retry_is_a_conflict_while_one_is_under_way_and_is_sent_to_the_newest_afterwards(night):
    first = night.submit(2, "too_short", "not_a_call")
    second = night.amend(first, "too_short")
    with pytest.raises(IdempotencyConflict) as conflict:
        night.amend(first)
    assert conflict.value.job_id == str(second.job_id)
    night.finish(second.job_id)
    with pytest.raises(InvalidRequest, match=f"its newest version is job {second.job_id}"):
        night.amend(first)
    night.finish(night.amend(second.job_id).job_id)


@pytest.mark.parametrize("codes", [((), ()), ((), ("too_short",))], ids=["the-same", "different"])
def test_two_retries_at_once_make_one_version(ledger, night, codes):
    for _ in range(20):
        first = night.submit(2, "too_short", "not_a_call")
        barrier = Barrier(2)

        def one(chosen, first=first, barrier=barrier):
            barrier.wait()
            try:
                return night.amend(first, *chosen)
            except IdempotencyConflict as conflict:
                return conflict

        with ThreadPoolExecutor(2) as pool:
            found = list(pool.map(one, codes))
        (version,) = rows(ledger, "SELECT job_id, export_version FROM jobs WHERE predecessor = %s", first)
        assert version.export_version == 2
        assert {str(each.job_id) for each in found} == {str(version.job_id)}
        created = [each.created for each in found if not isinstance(each, IdempotencyConflict)]
        assert sorted(created) == ([False, True] if codes[0] == codes[1] else [True])
        check(ledger, version.job_id)


def test_a_retry_whose_answer_was_lost_is_found_by_asking_again(ledger, night, monkeypatch):
    first = night.submit(1, "too_short")
    whole = Ledger.transaction

    def cut(self):
        monkeypatch.setattr(Ledger, "transaction", whole)
        return _Cut(whole(self))

    monkeypatch.setattr(Ledger, "transaction", cut)
    with pytest.raises(LedgerUnavailable):
        night.amend(first)
    again = night.amend(first)
    assert not again.created
    assert rows(ledger, "SELECT job_id FROM jobs WHERE predecessor = %s", first) == [(again.job_id,)]


class _Cut:
    """A transaction whose COMMIT happens and is never heard of."""

    def __init__(self, whole):
        self._whole = whole

    def __enter__(self):
        return self._whole.__enter__()

    def __exit__(self, *error):
        self._whole.__exit__(*error)
        raise LedgerUnavailable("cut after the COMMIT")


def test_a_cancelled_job_is_gone_on_with_and_its_rows_keep_their_keys(ledger, settings, night):
    first = submitted(ledger, settings, 4, concurrency=1)
    released = admit(ledger, first).released[0]
    worker = night.bench(Summary(summary="One.", actions=(OFFER,)), Summary(summary="Two.", actions=(OFFER,)))
    process(worker, process(worker, released).next)
    cancel(ledger, first)
    night.freeze(first)
    second = night.amend(first).job_id
    assert night.work(second) == ["doc-2", "doc-3"]
    night.freeze(second)
    before, after = night.rows(first), night.rows(second)
    older, younger = (before[place]["actions"][0]["action_key"] for place in (0, 1))
    (action,) = night.actions(second)
    assert (action["action_key"], action["replaces"]) == (older, [younger])
    assert after[0]["actions"][0]["action_key"] == older
    diff = night.diff(second)
    assert [(one["document_id"], one["action_key"], one["replaces"]) for one in diff["dispositions"]] == [
        ("doc-0", older, None),
        ("doc-1", older, younger),
    ]
    assert (diff["added"], diff["replaced"]) == ([older], [{"action_key": younger, "by": older}])


def test_a_cancelled_retry_keeps_the_keys_of_the_version_before_and_hands_them_on(ledger, night):
    first = night.submit(3, Summary(summary="One.", actions=(OFFER, offer("Call", None))), "too_short", "too_short")
    second = night.amend(first).job_id
    worker = night.bench(Summary(summary="Two.", actions=(OFFER,)))
    process(worker, admit(ledger, second).released[0])
    cancel(ledger, second)
    night.freeze(second)
    third = night.finish(night.amend(second).job_id)
    versions = [night.rows(job_id) for job_id in (first, second, third)]
    keys = [[one["action_key"] for one in version[0]["actions"]] for version in versions]
    assert keys[0] == keys[1] == keys[2]
    assert [one["reasons"] for one in versions[1][0]["actions"]] == [
        ["job_cancelled", "quote_not_found"],
        ["job_cancelled"],
    ]
    assert sorted(night.diff(second)["removed"]) == sorted(keys[0])
    united = next(one for one in night.actions(third) if len(one["source_document_ids"]) == 3)
    assert united["replaces"] == [versions[1][1]["actions"][0]["action_key"]]


def test_a_cancelled_successor_skips_only_what_it_was_to_work_on(ledger, night):
    first = night.submit(2, Summary(summary="One."), "too_short")
    second = night.amend(first).job_id
    cancel(ledger, second)
    night.freeze(second)
    assert [(row["state"], row["error_code"]) for row in night.rows(second)] == [
        ("succeeded", None),
        ("skipped", "cancelled"),
    ]
    with ledger.statement() as tx:
        assert exports.find(tx, second).export_version == 2


@pytest.mark.parametrize("seed", range(4))
def test_over_any_chain_what_the_diff_does_not_name_has_the_same_bytes(ledger, settings, night, seed):
    chance = random.Random(seed)  # noqa: S311 - made-up calls
    calls = [document(number, account_id=f"account-{number % 2}") for number in range(8)]
    options = {"concurrency": 1, "require": chance.choice(["any", "all"])}
    job_id = submit(ledger, settings, calls, options, "night").job_id
    before, was_cancelled = None, False
    for _ in range(5):
        worker = night.bench(*(answer(chance) for _ in calls))
        released = admit(ledger, job_id).released[0]
        for _ in range(chance.choice([1, 2, 9])):
            released = process(worker, released).next if released else None
        if released:
            cancel(ledger, job_id)
        night.freeze(job_id)
        after = night.rows(job_id)
        if before is not None:
            named_alone(night.diff(job_id), before, after)
            united = {key for action in night.actions(job_id) for key in action["replaces"]}
            changed = {one["replaces"] for one in night.diff(job_id)["dispositions"]} - {None}
            # Keys change only where rows of a cancelled job, which merged nothing, come to be one action.
            assert changed <= (united if was_cancelled else set())
        if all(row["state"] == "succeeded" for row in after):
            break
        was_cancelled = released is not None
        before, job_id = after, night.amend(job_id).job_id


def answer(chance):
    if chance.random() < 0.3:
        return "too_short"
    found = [offer(chance.choice("abc") * 3, chance.choice([0, 0, None])) for _ in range(chance.randrange(3))]
    return Summary(summary="Said.", actions=tuple(found))


def named_alone(diff, before, after):
    """Nothing differs that the diff does not name."""
    rows_named = {row["document_id"] for row in diff["rows"]}
    changes = {(one["document_id"], one["replaces"] or one["action_key"]): one for one in diff["dispositions"]}
    for old, new in zip(before, after, strict=True):
        if old["document_id"] in rows_named:
            assert old["state"] != "succeeded"
            continue
        expected = but_for(IDS, old)
        for action in expected["actions"]:
            change = changes.get((old["document_id"], action["action_key"]))
            if change is not None:
                assert {name: action[name] for name in change["from"]} == change["from"]
                action.update(change["to"], action_key=change["action_key"])
        assert but_for(IDS, new) == expected
