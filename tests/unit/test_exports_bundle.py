"""A bundle is wholly there or not at all, and freezing again gives the same bytes."""

import errno
import os
from datetime import timedelta
from pathlib import Path
from threading import Thread

import pytest
from exports_samples import NOW, cancelled_job, completed_job, files, freeze, plain_header, plain_record, successor_job

from exports.bundle import write_bundle
from exports.seal import ACTIONS, MANIFEST, REPORT, SEAL, Seal, sha256_of
from pipeline.errors import ExportError, ExportMismatch

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize(("name", "job"), [("bundle", completed_job), ("successor", successor_job)])
def test_a_bundle_has_the_bytes_of_the_golden_one(tmp_path, name, job):
    freeze(tmp_path / "v1", job())
    assert files(tmp_path / "v1") == files(GOLDEN / name)


def test_the_seal_counts_rows_codes_and_hashes_of_the_other_files(tmp_path):
    target = tmp_path / "job" / "v1"
    seal = freeze(target, completed_job())
    assert Seal.model_validate_json((target / SEAL).read_bytes()) == seal
    assert seal.counts.model_dump() == {"total": 6, "succeeded": 4, "failed": 1, "skipped": 1}
    assert seal.error_codes == {"budget_exhausted": 1, "provider_timeout": 1}
    assert (seal.rows.manifest, seal.rows.actions) == (6, 6)
    assert list(seal.options) == ["concurrency", "require"]
    assert seal.files == {name: sha256_of(target / name) for name in (MANIFEST, ACTIONS, REPORT)}


def test_nothing_but_the_target_stays_beside_it(tmp_path):
    freeze(tmp_path / "v1", completed_job())
    freeze(tmp_path / "v1", completed_job())
    assert [path.name for path in tmp_path.iterdir()] == ["v1"]


def test_a_cancelled_job_gives_a_bundle_without_merged_actions(tmp_path):
    seal = freeze(tmp_path / "v1", cancelled_job())
    assert seal.job_state == "cancelled"
    assert (tmp_path / "v1" / ACTIONS).read_bytes() == b""


def test_freezing_again_gives_the_same_seal_and_leaves_the_files_alone(tmp_path):
    first = freeze(tmp_path / "v1", completed_job())
    inode = (tmp_path / "v1" / MANIFEST).stat().st_ino
    assert freeze(tmp_path / "v1", completed_job()) == first
    assert (tmp_path / "v1" / MANIFEST).stat().st_ino == inode


@pytest.mark.parametrize("name", [MANIFEST, ACTIONS, REPORT, SEAL])
def test_a_target_with_other_bytes_is_never_overwritten(tmp_path, name):
    target = tmp_path / "v1"
    freeze(target, completed_job())
    (target / name).write_bytes(b"other")
    before = files(target)
    with pytest.raises(ExportMismatch, match="holds other bytes"):
        freeze(target, completed_job())
    assert files(target) == before
    assert [path.name for path in tmp_path.iterdir()] == ["v1"]


def test_a_file_in_the_place_of_the_target_is_never_overwritten(tmp_path):
    (tmp_path / "v1").write_text("mine")
    with pytest.raises(ExportMismatch):
        freeze(tmp_path / "v1", completed_job())
    assert (tmp_path / "v1").read_text() == "mine"


def test_a_freezer_that_loses_the_race_to_the_same_bytes_returns_the_same_seal(tmp_path):
    job = completed_job()

    def records():
        yield from job.records
        freeze(tmp_path / "v1", job)  # another host comes first, at the last moment

    seal = write_bundle(tmp_path / "v1", job.header, records(), job.actions, now=NOW)
    assert seal.to_bytes() == (tmp_path / "v1" / SEAL).read_bytes()


def test_a_freezer_that_loses_the_race_to_other_bytes_says_so(tmp_path):
    job = completed_job()

    def records():
        yield from job.records
        freeze(tmp_path / "v1", cancelled_job())

    with pytest.raises(ExportMismatch):
        write_bundle(tmp_path / "v1", job.header, records(), job.actions, now=NOW)


def test_freezers_at_the_same_time_agree(tmp_path):
    seals = []
    threads = [Thread(target=lambda: seals.append(freeze(tmp_path / "v1", completed_job()))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seals) == len(threads)
    assert all(seal == seals[0] for seal in seals)
    assert [path.name for path in tmp_path.iterdir()] == ["v1"]


WRONG = {
    "a row is missing": (plain_header(2), [plain_record(0)], []),
    "a row is too much": (plain_header(1), [plain_record(0), plain_record(1)], []),
    "a position comes twice": (plain_header(2), [plain_record(0), plain_record(0)], []),
    "rows are out of order": (plain_header(2), [plain_record(1), plain_record(0)], []),
    "an item is not final": (plain_header(1), [plain_record(0, state="running")], []),
    "a failure has no code": (plain_header(1), [plain_record(0, state="failed")], []),
    "a success has a code": (plain_header(1), [plain_record(0, error_code="expired")], []),
    "a merged action is missing": (plain_header(1, merged_rows=1), [plain_record(0)], []),
    "a merged action is too much": (completed_job().header, completed_job().records, completed_job().actions * 2),
    "a merged action is no JSON": (plain_header(1, merged_rows=1), [plain_record(0)], ["{"]),
    "a merged action has no group": (plain_header(1, merged_rows=1), [plain_record(0)], ["{}"]),
    "a merged action is two lines": (plain_header(1, merged_rows=1), [plain_record(0)], ["{\n}"]),
    "the job still runs": (plain_header(1, job_state="running"), [plain_record(0)], []),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_no_target_appears_when(tmp_path, wrong):
    header, records, actions = WRONG[wrong]
    with pytest.raises(ExportError):
        write_bundle(tmp_path / "v1", header, records, actions, now=NOW)
    assert list(tmp_path.iterdir()) == []


def test_a_ledger_that_breaks_off_leaves_nothing_behind(tmp_path):
    job = completed_job()

    def records():
        yield job.records[0]
        raise ConnectionError

    with pytest.raises(ExportError):
        write_bundle(tmp_path / "v1", job.header, records(), job.actions, now=NOW)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_named_and_leaves_nothing_behind(tmp_path, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ExportError, match="No space left on device"):
        freeze(tmp_path / "v1", completed_job())
    assert list(tmp_path.iterdir()) == []


def test_every_file_and_both_folders_are_synced_before_the_bundle_counts(tmp_path, monkeypatch):
    synced = []
    really = os.fsync

    def watched(opened):
        synced.append(os.fstat(opened).st_ino)
        really(opened)

    monkeypatch.setattr(os, "fsync", watched)
    target = tmp_path / "v1"
    freeze(target, completed_job())
    places = [*(target / name for name in (MANIFEST, ACTIONS, REPORT, SEAL)), target, tmp_path]
    assert synced == [place.stat().st_ino for place in places]


def test_folders_of_dead_freezes_are_removed_and_those_of_living_ones_are_not(tmp_path):
    for name, age in ((".v1.dead.tmp", timedelta(hours=2)), (".v1.live.tmp", timedelta(minutes=5))):
        (tmp_path / name).mkdir()
        (tmp_path / name / MANIFEST).write_text("part")
        for path in (tmp_path / name / MANIFEST, tmp_path / name):
            os.utime(path, times=((NOW - age).timestamp(),) * 2)
    freeze(tmp_path / "v1", completed_job())
    assert sorted(path.name for path in tmp_path.iterdir()) == [".v1.live.tmp", "v1"]


def test_a_long_freeze_counts_as_alive_while_it_writes_into_an_old_folder(tmp_path):
    folder = tmp_path / ".v1.long.tmp"
    folder.mkdir()
    (folder / MANIFEST).write_text("part")
    os.utime(folder / MANIFEST, times=(NOW.timestamp(),) * 2)
    os.utime(folder, times=((NOW - timedelta(hours=5)).timestamp(),) * 2)
    freeze(tmp_path / "v1", completed_job())
    assert folder.is_dir()
