"""`--out` gets the latest bundle of the job one ran, and nothing of one's own is lost."""

import os
from fcntl import LOCK_SH, flock

import pytest
from exports_samples import cancelled_job, completed_job, files, freeze, successor_job

from exports.copy_bundle import check_out, copy_bundle
from exports.seal import DIFF, FILES, MANIFEST, REPORT, SEAL
from pipeline.errors import ExportError, InvalidRequest

PARTS = [f".{name}.{'0123456789abcdef' * 2}.tmp" for name in FILES]
NOT_OURS = [".note.tmp", f".note.{'0' * 32}.tmp", ".seal.json.tmp"]


@pytest.fixture
def source(tmp_path):
    freeze(tmp_path / "v1", completed_job())
    return tmp_path / "v1"


@pytest.fixture
def out(tmp_path):
    return tmp_path / "deep" / "out"


def test_a_copy_has_the_same_bytes(source, out):
    copy_bundle(source, out)
    assert files(out) == files(source)


def test_a_copy_that_is_there_already_is_left_alone(source, out):
    copy_bundle(source, out)
    before = {path.name: path.stat().st_ino for path in out.iterdir()}
    copy_bundle(source, out)
    assert {path.name: path.stat().st_ino for path in out.iterdir()} == before


def test_a_damaged_copy_is_made_whole(source, out):
    copy_bundle(source, out)
    (out / MANIFEST).write_bytes(b"cut")
    copy_bundle(source, out)
    assert files(out) == files(source)


def test_another_exports_bundle_is_replaced_and_a_note_beside_it_stays(source, out, tmp_path):
    freeze(tmp_path / "v2", cancelled_job())
    copy_bundle(tmp_path / "v2", out)
    (out / "note.txt").write_text("mine")
    copy_bundle(source, out)
    assert files(out) == files(source) | {"note.txt": b"mine"}


def test_a_later_versions_diff_comes_along_and_goes_with_it(source, out, tmp_path):
    freeze(tmp_path / "v2", successor_job())
    for bundle in (tmp_path / "v2", source):
        copy_bundle(bundle, out)
        assert files(out) == files(bundle)
        check_out(out)


def test_a_diff_of_ones_own_beside_a_bundle_stays(source, out):
    copy_bundle(source, out)
    (out / DIFF).write_bytes(b"mine")
    copy_bundle(source, out)
    assert files(out) == files(source) | {DIFF: b"mine"}


def test_an_interrupted_copy_goes_on(source, out):
    copy_bundle(source, out)
    (out / SEAL).unlink()
    (out / REPORT).unlink()
    copy_bundle(source, out)
    assert files(out) == files(source)


def test_what_a_killed_copy_left_is_removed_and_nothing_else(source, out):
    out.mkdir(parents=True)
    for name in (*PARTS, *NOT_OURS):
        (out / name).write_bytes(b"cut")
    copy_bundle(source, out)
    assert files(out) == files(source) | dict.fromkeys(NOT_OURS, b"cut")


def test_what_another_copy_is_writing_now_stays(source, out):
    out.mkdir(parents=True)
    for name in PARTS:
        (out / name).write_bytes(b"half")
    other = os.open(out, os.O_RDONLY)
    try:
        flock(other, LOCK_SH)
        copy_bundle(source, out)
    finally:
        os.close(other)
    assert files(out) == files(source) | dict.fromkeys(PARTS, b"half")


def test_an_empty_folder_and_hidden_files_are_no_obstacle(source, out):
    out.mkdir(parents=True)
    (out / ".gitkeep").touch()
    copy_bundle(source, out)
    assert files(out) == files(source) | {".gitkeep": b""}


@pytest.mark.parametrize("name", ["letter.txt", REPORT, SEAL])
def test_a_folder_with_files_of_ones_own_is_refused_and_left_as_it_is(source, out, name):
    out.mkdir(parents=True)
    (out / name).write_text("mine")
    with pytest.raises(InvalidRequest, match=f"holds {name} and no bundle"):
        copy_bundle(source, out)
    assert files(out) == {name: b"mine"}


def test_a_file_in_the_place_of_the_folder_is_refused(source, tmp_path):
    (tmp_path / "out").write_text("mine")
    with pytest.raises(InvalidRequest, match="is a file"):
        copy_bundle(source, tmp_path / "out")


def test_a_link_in_the_folder_is_replaced_and_its_target_left_alone(source, out, tmp_path):
    copy_bundle(source, out)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("mine")
    (out / MANIFEST).unlink()
    (out / MANIFEST).symlink_to(elsewhere)
    copy_bundle(source, out)
    assert elsewhere.read_text() == "mine"
    assert files(out) == files(source)


def test_a_source_with_other_bytes_than_its_seal_names_is_not_handed_on(source, out):
    (source / MANIFEST).write_bytes(b"other")
    with pytest.raises(ExportError, match="does not have the bytes"):
        copy_bundle(source, out)
    assert not (out / SEAL).exists()


def test_a_source_without_a_seal_is_no_bundle(tmp_path, out):
    with pytest.raises(ExportError, match="holds no bundle"):
        copy_bundle(tmp_path, out)


def test_a_bundle_is_its_own_copy(source):
    before = files(source)
    copy_bundle(source, source)
    assert files(source) == before
