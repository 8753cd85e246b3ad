"""The data folder's lock and state."""

import os
import stat

import pytest

from pipeline.errors import StackError
from pipeline.stack.folder import Folder, State, write_private
from pipeline.stack.parts import Part
from pipeline.stack.processes import ProcessRecord
from pipeline.stack.urls import Urls

STATE = State(
    owner=ProcessRecord.of(os.getpid()),
    urls=Urls("postgresql://a", "redis://b", "redis://c"),
    ready=True,
    parts=(Part(name="redis", process=ProcessRecord.of(1), stop_signal=15, grace=10.0, address="127.0.0.1:1"),),
)


@pytest.fixture
def folder(tmp_path):
    folder = Folder(tmp_path / "data")
    folder.prepare()
    return folder


def test_a_second_lock_is_refused_until_the_first_is_closed(folder):
    first = folder.lock()
    assert folder.lock() is None
    first.close()
    with folder.lock() as second:
        assert second


def test_the_state_is_read_as_it_was_written(folder):
    assert folder.read_state() is None
    folder.write_state(STATE)
    assert folder.read_state() == STATE
    folder.clear_state()
    assert folder.read_state() is None


def test_what_holds_passwords_is_private(folder):
    folder.write_state(STATE)
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.path.glob("*.json")} == {0o600}
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700


def test_a_private_file_does_not_inherit_the_mode_of_the_one_it_replaces(tmp_path):
    path = tmp_path / "secret"
    path.write_text("old")
    path.chmod(0o644)
    write_private(path, "new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text() == "new"


def test_a_folder_that_cannot_be_made_is_one_clear_line(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StackError, match="CALLFOLD_DATA_DIR"):
        Folder(tmp_path / "file" / "data").prepare()


def test_the_last_line_of_a_log_is_quoted_with_its_place(folder):
    folder.log_of("redis").write_text("starting\nno memory\n\n")
    assert folder.last_words("redis") == f"no memory (see {folder.log_of('redis')})"
    assert folder.last_words("other").startswith("no output")
