"""An export is delivered once under a key, whole, and the receipt proves it."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from uuid import uuid4

import pytest
from ledger_bench import completed_job
from ledger_rows import document, rows, submitted, update, value

from exports.copy_bundle import copy_bundle
from exports.deliver import deliver, deliver_as_asked
from exports.freeze import folder_of, freeze
from exports.seal import MANIFEST, SEAL
from exports.verify import verify
from pipeline.cli.checkup import _stuck
from pipeline.domain.receipts import default_key
from pipeline.errors import DeliveryRefused, ExportMismatch, InvalidRequest, NotFound, StaleArrow
from pipeline.ledger import receipts, views
from pipeline.stages.amend import amend
from pipeline.stages.cancel import cancel
from pipeline.stages.commands import Deliver
from pipeline.stages.reconcile import reconcile
from pipeline.stages.submit import submit

LEASE = 60.0


@pytest.fixture
def data(folder):
    """Where exports are frozen."""
    return folder / "data" / "exports"


@pytest.fixture
def to(folder):
    """The URI of a folder that is not there yet."""
    return (folder / "crm in").as_uri()


@pytest.fixture
def completed(ledger, settings, bench):
    """Makes completed jobs."""
    return lambda documents=2: completed_job(ledger, settings, bench(), documents)


def test_a_delivery_copies_the_whole_bundle_into_a_folder_of_the_export_and_says_so(ledger, completed, data, to):
    job_id = completed()
    done = deliver(ledger, data, job_id, to)
    frozen = freeze(ledger, data, job_id)
    assert done.reason == "delivered"
    assert (done.receipt.export_id, done.receipt.uri) == (frozen.export_id, to)
    assert done.folder.name == str(frozen.export_id)
    assert done.receipt.sha256 == frozen.sha256 == sha256((done.folder / SEAL).read_bytes()).hexdigest()
    assert verify(done.folder).rows == 2
    with ledger.statement() as tx:
        assert receipts.of_job(tx, job_id) == [done.receipt]


def test_the_same_key_gives_the_same_receipt_and_writes_nothing(ledger, completed, data, to, folder):
    job_id = completed()
    first = deliver(ledger, data, job_id, to, "night")
    (first.folder / SEAL).unlink()  # an importer took it
    again = deliver(ledger, data, job_id, to, "night")
    elsewhere = deliver(ledger, data, job_id, (folder / "other").as_uri(), "night")
    assert (again.reason, again.receipt, again.folder) == ("duplicate-delivery", first.receipt, first.folder)
    assert elsewhere == again
    assert not (first.folder / SEAL).exists()
    assert not (folder / "other").exists()


def test_without_a_key_the_place_is_part_of_it_however_it_is_spelt(ledger, completed, data, to, folder):
    job_id = completed()
    first = deliver(ledger, data, job_id, to)
    again = deliver(ledger, data, job_id, to.replace("file://", "file://localhost") + "/")
    other = deliver(ledger, data, job_id, (folder / "other").as_uri())
    assert (again.reason, again.receipt) == ("duplicate-delivery", first.receipt)
    assert (other.reason, other.folder.parent) == ("delivered", folder / "other")


def test_a_key_of_another_exports_delivery_is_refused_and_nothing_is_written(ledger, completed, data, to, folder):
    deliver(ledger, data, completed(), to, "night")
    with pytest.raises(DeliveryRefused) as refused:
        deliver(ledger, data, completed(), (folder / "other").as_uri(), "night")
    assert refused.value.code == "key-reused-for-other-export"
    assert not (folder / "other").exists()
    assert value(ledger, "SELECT count(*) FROM receipts") == 1


def test_two_exports_in_one_place_do_not_mix(ledger, completed, data, to):
    folders = {deliver(ledger, data, completed(), to).folder for _ in range(2)}
    assert len(folders) == 2
    assert {verify(one).rows for one in folders} == {2}


def test_an_unfinished_job_is_not_terminal(ledger, settings, data, to):
    job_id = submitted(ledger, settings, 2)
    with pytest.raises(DeliveryRefused) as refused:
        deliver(ledger, data, job_id, to)
    assert refused.value.code == "not-terminal"
    with pytest.raises(NotFound):
        deliver(ledger, data, uuid4(), to)
    cancel(ledger, job_id)
    assert deliver(ledger, data, job_id, to).reason == "delivered"


def test_a_bundle_that_is_not_what_was_frozen_is_not_delivered(ledger, completed, data, to, folder):
    job_id, other = completed(), completed(1)
    frozen, foreign = (folder_of(data, freeze(ledger, data, one)) for one in (job_id, other))
    for path in foreign.iterdir():
        (frozen / path.name).write_bytes(path.read_bytes())  # sealed, and yet another export
    with pytest.raises(ExportMismatch, match="as it was frozen"):
        deliver(ledger, data, job_id, to)
    assert not (folder / "crm in").exists()
    assert value(ledger, "SELECT count(*) FROM receipts") == 0


def test_a_folder_with_files_of_ones_own_is_left_alone_and_gets_no_receipt(ledger, completed, data, to, folder):
    job_id = completed()
    place = folder / "crm in" / str(freeze(ledger, data, job_id).export_id)
    place.mkdir(parents=True)
    (place / "mine.txt").write_text("mine")
    with pytest.raises(InvalidRequest, match=r"holds mine\.txt and no bundle"):
        deliver(ledger, data, job_id, to)
    assert [path.name for path in place.iterdir()] == ["mine.txt"]
    assert value(ledger, "SELECT count(*) FROM receipts") == 0


def test_a_delivery_that_died_half_way_is_finished_with_the_same_bytes(ledger, completed, data, to, folder):
    job_id = completed()
    frozen = freeze(ledger, data, job_id)
    place = folder / "crm in" / str(frozen.export_id)
    copy_bundle(folder_of(data, frozen), place)
    (place / SEAL).unlink()
    (place / MANIFEST).unlink()
    assert deliver(ledger, data, job_id, to).reason == "delivered"
    for path in folder_of(data, frozen).iterdir():
        assert (place / path.name).read_bytes() == path.read_bytes()


def test_eight_deliveries_at_once_under_one_key_are_one_receipt(ledger, completed, data, to):
    job_id = completed()
    freeze(ledger, data, job_id)
    together = threading.Barrier(8)

    def one(_):
        together.wait()
        return deliver(ledger, data, job_id, to, "night")

    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(one, range(8)))
    assert len({one.receipt for one in done}) == 1
    assert sorted(one.reason for one in done) == ["delivered"] + ["duplicate-delivery"] * 7
    assert verify(done[0].folder).rows == 2


def test_eight_exports_at_once_under_one_key_are_one_receipt_and_seven_refusals(ledger, completed, data, to):
    job_ids = [completed(1) for _ in range(8)]
    together = threading.Barrier(8)

    def one(job_id):
        together.wait()
        try:
            return deliver(ledger, data, job_id, to, "night").reason
        except DeliveryRefused as refused:
            return refused.code

    with ThreadPoolExecutor(8) as pool:
        done = sorted(pool.map(one, job_ids))
    assert done == ["delivered"] + ["key-reused-for-other-export"] * 7
    assert value(ledger, "SELECT count(*) FROM receipts") == 1


# A nightly job says where its export goes.


@pytest.fixture
def wanted(ledger, settings, data, to):
    """A cancelled job, frozen, that is wanted at a place."""
    job_id = submit(ledger, settings, [document(0)], {}, "nightly-emea", deliver_to=to).job_id
    cancel(ledger, job_id)
    freeze(ledger, data, job_id)
    return job_id


def deliveries(ledger):
    return [one for one in reconcile(ledger, LEASE, "w") if isinstance(one, Deliver)]


def test_where_an_export_goes_is_no_part_of_the_request(ledger, settings, wanted):
    again = submit(ledger, settings, [document(0)], {}, "nightly-emea", deliver_to="file:///elsewhere")
    assert (again.job_id, again.created) == (wanted, False)
    assert value(ledger, "SELECT options FROM jobs") == "{}"


def test_a_frozen_jobs_delivery_is_asked_for_with_doubling_backoff_until_it_is_made(ledger, wanted, data):
    assert deliveries(ledger) == []  # seen first
    for patience in (5, 10, 20, 40):
        update(ledger, "jobs", f"nudged_at = clock_timestamp() - interval '{patience - 2} seconds'", "true")
        assert deliveries(ledger) == []
        update(ledger, "jobs", f"nudged_at = clock_timestamp() - interval '{patience} seconds'", "true")
        assert deliveries(ledger) == [Deliver(wanted)]
    with ledger.statement() as tx:
        (_, stuck) = _stuck(views.health(tx))
    assert (stuck.part, stuck.ok, stuck.state) == (f"job {wanted}", False, "delivery asked for 4 times")
    deliver_as_asked(ledger, data, wanted)
    update(ledger, "jobs", "nudged_at = clock_timestamp() - interval '1 day'", "true")
    assert deliveries(ledger) == []
    with ledger.statement() as tx:
        assert views.health(tx).stuck == []


def test_a_freeze_that_was_asked_for_often_leaves_its_delivery_its_own_grace(ledger, settings, data, to):
    job_id = submit(ledger, settings, [document(0)], {}, "nightly-emea", deliver_to=to).job_id
    cancel(ledger, job_id)
    update(ledger, "jobs", "nudges = 9, nudged_at = clock_timestamp()", "true")
    freeze(ledger, data, job_id)
    assert rows(ledger, "SELECT nudges, nudged_at FROM jobs") == [(0, None)]


def test_a_jobs_own_delivery_has_the_key_of_export_and_place(ledger, wanted, data, to):
    deliver_as_asked(ledger, data, wanted)
    with ledger.statement() as tx:
        (receipt,) = receipts.of_job(tx, wanted)
        assert receipts.destination(tx, wanted).arrived
    assert (receipt.key, receipt.uri) == (default_key(receipt.export_id, to), to)
    deliver_as_asked(ledger, data, wanted)
    assert value(ledger, "SELECT count(*) FROM receipts") == 1


def test_a_jobs_delivery_that_was_killed_after_its_receipt_is_only_marked(ledger, wanted, data, to):
    receipt = deliver(ledger, data, wanted, to).receipt
    deliver_as_asked(ledger, data, wanted)
    with ledger.statement() as tx:
        assert receipts.of_job(tx, wanted) == [receipt]
        assert receipts.destination(tx, wanted).arrived


@pytest.mark.parametrize("same_export", [False, True])
def test_a_jobs_key_that_a_person_used_by_hand_keeps_nothing_from_where_it_is_wanted(
    ledger, completed, wanted, data, to, folder, same_export
):
    by_hand = deliver(ledger, data, wanted if same_export else completed(), (folder / "other").as_uri(), "nightly-emea")
    deliver_as_asked(ledger, data, wanted)
    with ledger.statement() as tx:
        (receipt,) = set(receipts.of_job(tx, wanted)) - {by_hand.receipt}
        assert receipts.destination(tx, wanted).arrived
    assert receipt.uri == to
    assert verify(folder / "crm in" / str(receipt.export_id)).rows == 1


def test_two_deliverers_of_one_job_leave_one_receipt(ledger, wanted, data):
    together = threading.Barrier(4)

    def one(_):
        together.wait()
        deliver_as_asked(ledger, data, wanted)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(one, range(4)))
    assert value(ledger, "SELECT count(*) FROM receipts") == 1
    assert value(ledger, "SELECT delivered_at IS NOT NULL FROM jobs")


def test_a_successors_export_goes_where_its_predecessors_went_into_a_folder_of_its_own(
    ledger, settings, wanted, data, folder
):
    deliver_as_asked(ledger, data, wanted)
    successor = amend(ledger, settings, wanted).job_id
    cancel(ledger, successor)
    freeze(ledger, data, successor)
    deliver_as_asked(ledger, data, successor)
    assert {verify(place).rows for place in (folder / "crm in").iterdir()} == {1}
    assert value(ledger, "SELECT count(*) FROM receipts") == 2


def test_a_job_that_is_wanted_nowhere_is_brought_nowhere(ledger, completed, data):
    job_id = completed()
    freeze(ledger, data, job_id)
    deliver_as_asked(ledger, data, job_id)
    assert value(ledger, "SELECT count(*) FROM receipts") == 0
    with ledger.transaction() as tx, pytest.raises(StaleArrow):
        receipts.arrive(tx, job_id)


# The command.


def test_the_command_prints_the_receipt_and_status_shows_it(call, completed, to):
    job_id = completed()
    first, again = (call("deliver", str(job_id)[:8], "--to", to, "--key", "night", "--json") for _ in range(2))
    assert (first.returncode, again.returncode) == (0, 0)
    receipt, same = json.loads(first.stdout), json.loads(again.stdout)
    assert (receipt.pop("reason"), same.pop("reason")) == ("delivered", "duplicate-delivery")
    assert receipt == same
    assert receipt.keys() == {"export_id", "uri", "sha256", "key", "delivered_at", "folder"}
    shown = json.loads(call("status", job_id, "--json").stdout)
    del receipt["folder"]
    assert (shown["receipts"], shown["delivery"]) == ([receipt], None)
    assert f"to {to}, key night" in call("status", job_id).stdout
    assert call("deliver", job_id, "--to", to, "--key", "night").stdout.startswith("delivered before, at ")


def test_the_commands_refusals_have_their_codes(call, ledger, settings, completed, to):
    call("deliver", completed(), "--to", to, "--key", "night")
    reused = call("deliver", completed(), "--to", to, "--key", "night", "--json")
    assert (reused.returncode, json.loads(reused.stdout)["error"]) == (3, "key-reused-for-other-export")
    unfinished = call("deliver", submitted(ledger, settings, 1), "--to", to, "--json")
    assert (unfinished.returncode, json.loads(unfinished.stdout)["error"]) == (1, "not-terminal")
    nowhere = call("deliver", "no-such-job", "--to", to)
    assert (nowhere.returncode, nowhere.stderr) == (2, "callfold: no job 'no-such-job'\n")


def test_status_says_where_an_export_is_still_to_go(call, wanted, to):
    assert f"to be delivered to {to}\n" in call("status", wanted).stdout
    asked = json.loads(call("status", wanted, "--json").stdout)["delivery"]
    assert asked == {"workspace": "default", "uri": to, "arrived": False}
