"""The pid file that a killed PostgreSQL leaves behind."""

import subprocess
import sys

import pytest

from pipeline.stack.postgres import _stop_unrecorded


@pytest.fixture
def stranger():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as started:
        yield started
        started.kill()


def test_a_pid_file_that_names_a_stranger_is_removed_and_the_stranger_lives(tmp_path, stranger):
    (tmp_path / "postmaster.pid").write_text(f"{stranger.pid}\n{tmp_path}\n")
    _stop_unrecorded(tmp_path)
    assert not (tmp_path / "postmaster.pid").exists()
    assert stranger.poll() is None


def test_a_pid_file_that_names_nobody_is_left_to_postgresql(tmp_path, stranger):
    stranger.kill()
    stranger.wait()
    (tmp_path / "postmaster.pid").write_text(f"{stranger.pid}\n{tmp_path}\n")
    _stop_unrecorded(tmp_path)
    assert (tmp_path / "postmaster.pid").exists()


def test_without_a_pid_file_nothing_is_done(tmp_path):
    _stop_unrecorded(tmp_path)
