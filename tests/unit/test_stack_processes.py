"""A process is recognized by pid, start time and command, and by nothing less."""

import subprocess
import sys

import pytest

from pipeline.stack.processes import ProcessRecord


@pytest.fixture
def process():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as started:
        yield started
        started.kill()


def test_a_running_process_is_found_again(process):
    assert ProcessRecord.of(process.pid).find().pid == process.pid


def test_a_pid_that_another_process_took_over_is_a_stranger(process):
    record = ProcessRecord.of(process.pid)
    assert record.model_copy(update={"started": record.started - 60}).find() is None


def test_another_executable_under_the_pid_is_a_stranger(process):
    assert ProcessRecord.of(process.pid).model_copy(update={"executable": "/bin/other"}).find() is None


def test_the_command_decides_where_the_executable_may_not_be_read(process):
    record = ProcessRecord.of(process.pid).model_copy(update={"executable": None})
    assert record.find()
    assert record.model_copy(update={"command": ("other",)}).find() is None


def test_a_program_that_rewrote_its_command_line_is_still_found(process):
    assert ProcessRecord.of(process.pid).model_copy(update={"command": ("renamed",)}).find()


def test_a_zombie_is_gone(process):
    record = ProcessRecord.of(process.pid)
    process.stdin.close()
    while record.find():
        pass
    assert process.returncode is None, "nobody has collected it yet"


def test_a_process_that_ended_before_it_was_recorded_matches_nobody(process):
    process.kill()
    process.wait()
    assert ProcessRecord.of(process.pid).find() is None
