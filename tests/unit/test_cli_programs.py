"""The stack's programs as command lines, and Flower's password."""

import socket
import stat

import pytest

from pipeline.cli import flower, programs
from pipeline.errors import InvalidRequest
from pipeline.settings import Settings
from pipeline.stack import PartStatus
from tasks import queues


@pytest.fixture
def settings(tmp_path):
    return Settings(data_dir=tmp_path)


def test_every_queue_has_a_worker(settings):
    consumed = {
        name for one in programs.workers(settings) for name in one.argv[one.argv.index("--queues") + 1].split(",")
    }
    assert consumed == {queue.name for queue in queues.ALL}


def test_documents_are_worked_on_by_threads_and_the_steps_between_by_a_process(settings):
    pools = {one.name: one.argv[one.argv.index("--pool") + 1] for one in programs.workers(settings)}
    assert pools == {"process": "threads", "alone": "prefork", "control": "prefork"}


def test_workers_of_two_data_folders_have_names_of_their_own(tmp_path):
    names = {
        one.argv[one.argv.index("--hostname") + 1]
        for folder in ("a", "b")
        for one in programs.workers(Settings(data_dir=tmp_path / folder))
    }
    assert len(names) == 6


def test_flower_is_read_only_on_loopback_and_its_password_on_no_command_line(settings):
    program = flower.program(settings)
    password = flower.password(settings)
    assert program.env["FLOWER_ADDRESS"] == "127.0.0.1"
    assert program.env["FLOWER_READ_ONLY"] == "true"
    assert program.env["FLOWER_BASIC_AUTH"] == f"callfold:{password}"
    assert not any(password in argument for argument in program.argv)


def test_a_password_is_made_once_and_kept_private(settings, tmp_path):
    assert flower.password(settings) == flower.password(settings)
    (file,) = tmp_path.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_configured_password_is_used_and_not_written_down(monkeypatch, tmp_path):
    monkeypatch.setenv("CALLFOLD_FLOWER_PASSWORD", "mine")
    settings = Settings(data_dir=tmp_path)
    assert flower.password(settings) == "mine"
    assert list(tmp_path.iterdir()) == []


def test_a_password_that_flower_would_split_is_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("CALLFOLD_FLOWER_PASSWORD", "one,two")
    with pytest.raises(InvalidRequest, match="comma"):
        flower.password(Settings(data_dir=tmp_path))


def test_an_empty_password_asks_for_none(monkeypatch, tmp_path):
    monkeypatch.setenv("CALLFOLD_FLOWER_PASSWORD", "")
    settings = Settings(data_dir=tmp_path)
    assert "FLOWER_BASIC_AUTH" not in flower.program(settings).env
    part = PartStatus("flower", 1, running=True, restarts=0, address="127.0.0.1:5555")
    assert flower.where(settings, part) == "http://127.0.0.1:5555, without a password"


def test_a_busy_port_is_left_to_its_holder(tmp_path):
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        busy = holder.getsockname()[1]
        program = flower.program(Settings(data_dir=tmp_path, flower_port=busy))
    assert busy < int(program.env["FLOWER_PORT"]) < busy + 20
    assert program.address == f"127.0.0.1:{program.env['FLOWER_PORT']}"
