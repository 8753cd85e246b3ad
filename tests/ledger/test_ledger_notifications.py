"""Every change of a job's state is notified once, and who asked for it hears of a job's end at least once."""

import json
import os
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from ledger_bench import completed_job
from ledger_rows import check, insert, new_job, rows, submitted, update, value

from exports import notify as consumer
from exports.freeze import folder_of, freeze
from exports.notify import notify
from pipeline.cli.checkup import _untold
from pipeline.errors import StaleArrow
from pipeline.ledger import exports, notifications, views
from pipeline.stages.admit import admit
from pipeline.stages.cancel import cancel
from pipeline.stages.commands import Notify
from pipeline.stages.reconcile import reconcile
from pipeline.stages.reduce import reduce

LEASE = 60.0


@pytest.fixture
def folder():
    with tempfile.TemporaryDirectory(prefix="callfold-") as name:
        yield Path(name)


@pytest.fixture
def told(settings, folder):
    """Settings whose consumer is a file, or the command that is given."""

    def to(*command):
        given = {"data_dir": folder / "data", "on_complete": command or folder / "deep" / "told.ndjson"}
        return settings.model_copy(update=given)

    return to


@pytest.fixture
def completed(ledger, settings, bench, told):
    """Makes a job that is completed, and frozen unless told."""

    def make(documents=2, *, frozen=True):
        job_id = completed_job(ledger, settings, bench(), documents)
        if frozen:
            freeze(ledger, told().exports, job_id)
        return job_id

    return make


def lines(file):
    return [json.loads(line) for line in file.read_bytes().splitlines()]


def test_each_change_of_a_jobs_state_is_notified_with_its_version(ledger, completed):
    job_id = completed()
    found = rows(ledger, "SELECT version, state, delivered_at IS NULL FROM notifications ORDER BY version")
    last = value(ledger, "SELECT version FROM jobs")
    assert found == [(1, "accepted", False), (2, "running", False), (last, "completed", True)]
    check(ledger, job_id)


def test_transitions_that_race_leave_one_notification_for_each_change_that_happened(ledger):
    job_ids = [new_job(ledger, ["born failed"], state="accepted") for _ in range(24)]
    together = threading.Barrier(8)

    def hurry(who):
        for job_id in job_ids:
            together.wait()
            for move in ((admit, reduce, cancel), (cancel, admit, reduce))[who % 2]:
                with suppress(StaleArrow):
                    move(ledger, job_id)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(hurry, range(8)))
    for job_id in job_ids:
        check(ledger, job_id)
    assert value(ledger, "SELECT count(*) FROM notifications WHERE state IN ('completed', 'cancelled')") == 24


def test_a_file_gets_one_line_with_the_jobs_ids_and_counts_and_where_its_bundle_is(ledger, completed, told):
    job_id, settings = completed(), told()
    notify(ledger, settings, job_id)
    notify(ledger, settings, job_id)
    with ledger.statement() as tx:
        job, export = views.job(tx, job_id, LEASE), exports.find(tx, job_id)
    (line,) = lines(settings.on_complete)
    assert line.pop("at").endswith("Z")
    assert line == {
        "schema_version": 1,
        "job_id": str(job_id),
        "key": job.idempotency_key,
        "state": "completed",
        "version": job.version,
        "counts": {"total": 2, "pending": 0, "running": 0, "succeeded": 2, "failed": 0, "skipped": 0},
        "export_id": str(export.export_id),
        "export_version": 1,
        "folder": str(folder_of(settings.exports, export)),
    }
    assert value(ledger, "SELECT count(*) FROM notifications WHERE delivered_at IS NULL") == 0


def test_a_cancelled_job_is_told_as_well(ledger, settings, told):
    job_id = submitted(ledger, settings, 2)
    cancel(ledger, job_id)
    freeze(ledger, told().exports, job_id)
    notify(ledger, told(), job_id)
    (line,) = lines(told().on_complete)
    assert (line["state"], line["counts"]["skipped"]) == ("cancelled", 2)


def test_nobody_is_told_before_the_bundle_is_there(ledger, completed, told):
    job_id = completed(frozen=False)
    notify(ledger, told(), job_id)
    assert not told().on_complete.exists()
    assert not [one for one in reconcile(ledger, LEASE, "w") if isinstance(one, Notify)]
    freeze(ledger, told().exports, job_id)
    assert reconcile(ledger, LEASE, "w") == [Notify(job_id)]


def test_where_nobody_asked_it_is_settled_all_the_same(ledger, settings, completed):
    notify(ledger, settings, completed())
    assert value(ledger, "SELECT count(*) FROM notifications WHERE delivered_at IS NULL") == 0


def test_two_drainers_at_once_tell_it_once(ledger, completed, told):
    job_ids, settings = [completed(1) for _ in range(5)], told()
    together = threading.Barrier(8)

    def drain(_):
        for job_id in job_ids:
            together.wait()
            notify(ledger, settings, job_id)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(drain, range(8)))
    assert [line["job_id"] for line in lines(settings.on_complete)] == list(map(str, job_ids))


def test_a_later_change_of_a_job_is_never_told_before_an_earlier_one(ledger, completed, told):
    job_id = completed()
    add_a_later_change(ledger, job_id)
    fails = told(sys.executable, "-c", "raise SystemExit(1)")
    notify(ledger, fails, job_id)
    assert rows(ledger, "SELECT tries FROM notifications ORDER BY version DESC LIMIT 2") == [(0,), (1,)]
    notify(ledger, told(), job_id, tries=1)
    assert [line["version"] for line in lines(told().on_complete)] == [value(ledger, "SELECT version FROM jobs"), 999]


def add_a_later_change(ledger, job_id):
    """No job has two ends; a later consumer may be told of more."""
    with ledger.transaction() as tx:
        now = tx.exec_driver_sql("SELECT clock_timestamp()").scalar_one()
        later = {"job_id": job_id, "version": 999, "state": "completed", "at": now, "available_at": now}
        insert(tx, "notifications", later)


def test_a_command_gets_the_line_as_its_input_and_no_shell(ledger, completed, told, folder):
    read = f"import sys; open({str(folder / 'heard')!r}, 'ab').write(sys.stdin.buffer.read() + sys.argv[1].encode())"
    job_id = completed()
    notify(ledger, told(sys.executable, "-c", read, "$HOME; `id`"), job_id)
    line, rest = (folder / "heard").read_text().split("\n")
    assert (json.loads(line)["job_id"], rest) == (str(job_id), "$HOME; `id`")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ([sys.executable, "-c", "print('velvet'); raise SystemExit(3)"], "ended with exit code 3"),
        ([sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"], "ended with exit code -9"),
        (["/no/such/program"], "cannot be started: No such file"),
    ],
)
def test_a_command_that_fails_is_tried_again_and_only_its_exit_code_is_known(
    ledger, completed, told, capfd, command, said
):
    job_id = completed()
    notify(ledger, told(*command), job_id)
    assert rows(ledger, "SELECT tries, delivered_at FROM notifications WHERE state = 'completed'") == [(1, None)]
    shown = "".join(capfd.readouterr())
    assert said in shown
    assert "velvet" not in shown
    notify(ledger, told(), job_id, tries=1)
    assert len(lines(told().on_complete)) == 1


def test_a_command_that_takes_too_long_is_killed_with_all_that_it_started(
    ledger, completed, told, folder, monkeypatch, capfd
):
    monkeypatch.setattr(consumer, "PATIENCE", 2.0)
    os.mkfifo(folder / "pipe")
    pipe = os.open(folder / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    notify(ledger, told("sh", "-c", f"exec > {folder / 'pipe'}; echo up; sleep 600 & sleep 600"), completed())
    assert "took longer than" in "".join(capfd.readouterr())
    os.set_blocking(pipe, True)
    with os.fdopen(pipe, "rb") as heard:
        assert heard.read() == b"up\n"  # to the end, which comes when nobody is left who could write


def test_a_file_that_cannot_be_written_is_a_try_that_failed(ledger, completed, settings, folder, capfd):
    notify(ledger, settings.model_copy(update={"on_complete": folder}), completed())
    assert "cannot be written: Is a directory" in "".join(capfd.readouterr())
    assert value(ledger, "SELECT tries FROM notifications WHERE state = 'completed'") == 1


def test_a_line_that_a_crash_cut_short_spoils_none_after_it(ledger, completed, told):
    settings = told()
    settings.on_complete.parent.mkdir()
    settings.on_complete.write_text('{"job_id": "cut')
    notify(ledger, settings, completed())
    cut, whole = settings.on_complete.read_text().splitlines()
    assert (cut, json.loads(whole)["state"]) == ('{"job_id": "cut', "completed")


def test_a_message_of_an_older_try_does_nothing(ledger, completed, told):
    job_id = completed()
    notify(ledger, told("/no/such/program"), job_id)
    notify(ledger, told(), job_id)
    assert not told().on_complete.exists()


def test_a_telling_that_was_killed_before_its_mark_is_told_again(ledger, completed, told):
    """At least once: the try is counted before it, so the next one is due after the same backoff as a failure's."""
    job_id = completed()
    with ledger.statement() as tx:
        (waiting,) = notifications.waiting(tx, job_id)
        notifications.claim(tx, waiting, LEASE)
    update(ledger, "notifications", "available_at = clock_timestamp()", "true")
    assert reconcile(ledger, LEASE, "w") == [Notify(job_id, 1)]
    notify(ledger, told(), job_id, 1)
    assert len(lines(told().on_complete)) == 1
    with ledger.statement() as tx, pytest.raises(StaleArrow):
        notifications.settle(tx, waiting)


def test_a_try_is_followed_by_the_next_with_doubling_backoff(ledger, completed):
    job_id = completed()
    for tries, patience in enumerate((5, 10, 20, 40, 80, 160, 320, 640, 900, 900)):
        with ledger.statement() as tx:
            (waiting,) = notifications.waiting(tx, job_id)
            assert waiting.tries == tries
            notifications.claim(tx, waiting, LEASE)
        wait = "extract(epoch FROM available_at - clock_timestamp())::float8"
        assert patience - 5 < value(ledger, f"SELECT {wait} FROM notifications WHERE state = 'completed'") <= patience


@pytest.mark.parametrize(("age", "patience"), [(0, 60), (59, 60), (300, 300), (5_000, 900)])
def test_what_is_handed_out_comes_again_later_and_later(ledger, completed, age, patience):
    job_id = completed()
    update(ledger, "notifications", f"at = clock_timestamp() - interval '{age} seconds'", "true")
    assert reconcile(ledger, LEASE, "w") == [Notify(job_id)]
    assert reconcile(ledger, LEASE, "w") == []
    wait = "extract(epoch FROM available_at - clock_timestamp())::float8"
    assert abs(value(ledger, f"SELECT {wait} FROM notifications WHERE state = 'completed'") - patience) < 5


def test_two_reconcilers_share_what_is_due(ledger, completed):
    job_ids = {completed(1) for _ in range(4)}
    together = threading.Barrier(4)

    def due(_):
        together.wait()
        with ledger.statement() as tx:
            return notifications.due(tx, LEASE)

    with ThreadPoolExecutor(4) as pool:
        found = [job_id for some in pool.map(due, range(4)) for job_id, _ in some]
    assert sorted(found) == sorted(job_ids)


def test_doctor_names_a_job_whose_end_nobody_can_be_told_of(ledger, completed, told):
    job_id, other = completed(1), completed(1)
    for tries in range(3):
        notify(ledger, told("/no/such/program"), job_id, tries)
    with ledger.statement() as tx:
        (finding,) = _untold(views.health(tx))
    assert (finding.part, finding.ok, finding.state) == (f"job {job_id}", False, "notification tried 3 times")
    update(ledger, "jobs", "frozen_at = clock_timestamp() - interval '20 minutes'", "true")
    with ledger.statement() as tx:
        assert [job for job, _ in views.health(tx).untold] == [str(job_id), str(other)]
