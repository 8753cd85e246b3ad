"""The embedded stack on its real servers: started, shared, killed, cleaned up and stopped."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import psycopg
import pytest

from pipeline.errors import StackError
from pipeline.settings import Settings
from pipeline.stack import Program, Stack, down, status, up
from pipeline.stack.folder import Folder, State
from pipeline.stack.parts import Part
from pipeline.stack.processes import ProcessRecord, has_life

REPOSITORY = Path(__file__).parents[2]

#: A process that owns a stack with one program, until it is interrupted.
OWNER = """
import signal, sys
from pathlib import Path
from pipeline.settings import Settings
from pipeline.stack import Program, Stack

# As in a terminal: where the tests run in a shell's background, Ctrl-C is ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
folder = Path(sys.argv[1])
with Stack.start(Settings(data_dir=folder)) as stack:
    stack.run([Program("worker", (sys.executable, "-c", sys.argv[2], str(folder)))])
    print("ready", flush=True)
    stack.wait()
"""

SLEEPER = "import time; time.sleep(600)"

#: On SIGTERM it says so, and ends warmly once it is told to; SIGINT would end it at once.
WARM_WORKER = """
import signal, sys, time
from pathlib import Path

folder = Path(sys.argv[1])

def shut_down(*_):
    (folder / "ending").touch()
    while not (folder / "go").exists():
        time.sleep(0.01)
    (folder / "ended warmly").touch()
    sys.exit(0)

signal.signal(signal.SIGTERM, shut_down)
(folder / "working").touch()
time.sleep(600)
"""


@pytest.fixture(autouse=True)
def _no_configured_urls(monkeypatch):
    for name in ("DATABASE_URL", "BROKER_URL", "RESULT_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(REPOSITORY)  # so that the owners find the package


@pytest.fixture(scope="module")
def cluster_folder():
    """One data folder whose cluster is made once: it outlives every start and stop, as it should."""
    with new_base() as base, pytest.MonkeyPatch.context() as patch:
        patch.setenv("BROKER_URL", "redis://elsewhere")
        patch.setenv("RESULT_URL", "redis://elsewhere")
        patch.delenv("DATABASE_URL", raising=False)
        Stack.start(Settings(data_dir=Path(base, "data"))).stop()
        yield Path(base, "data")


@pytest.fixture
def folder(cluster_folder):
    yield cluster_folder
    kill_processes_of(cluster_folder)


@pytest.fixture
def make_base():
    """Makes folders, and leaves nothing running that names them."""
    bases = []

    def make():
        bases.append(new_base())
        return Path(bases[-1].name)

    yield make
    for base in bases:
        kill_processes_of(base.name)
        base.cleanup()


@pytest.fixture
def copy_folder(make_base, cluster_folder):
    """Makes other data folders with a cluster."""

    def copy(name="data"):
        copied = make_base() / name
        copied.mkdir(parents=True)
        subprocess.run(["cp", "-a", cluster_folder / "postgres", copied], check=True)
        return copied

    return copy


@pytest.fixture
def bare_folder(make_base):
    """A data folder for tests that start no PostgreSQL."""
    return make_base() / "data"


@pytest.fixture
def broker_only(bare_folder):
    """Settings with which only Redis is started: programs do not need more."""
    return Settings(data_dir=bare_folder, DATABASE_URL="postgresql://elsewhere/callfold")


@pytest.fixture
def start_owner():
    """Starts owners in process groups of their own, as a terminal does."""
    owners = []

    def start(folder, worker=SLEEPER):
        owner = subprocess.Popen(
            [sys.executable, "-c", OWNER, folder, worker],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            process_group=0,
        )
        owners.append(owner)
        assert b"ready\n" in iter(owner.stdout.readline, b""), "the owner ended early"
        return owner

    yield start
    for owner in owners:
        owner.kill()
        owner.wait()
        owner.stdout.close()


def test_a_stopped_stack_leaves_no_process_and_keeps_its_data(folder):
    with Stack.start(Settings(data_dir=folder)) as stack:
        stack.run([Program("worker", (sys.executable, "-c", SLEEPER, str(folder)))])
        assert [part.name for part in stack.status() if part.running] == ["postgres", "redis", "worker"]
        execute(stack, "CREATE TABLE kept AS SELECT 42 AS answer")
    assert processes_of(folder) == []
    assert status(Settings(data_dir=folder)) == []
    with Stack.start(Settings(data_dir=folder)) as stack:
        assert execute(stack, "TABLE kept") == [(42,)]


def test_the_servers_take_no_login_without_their_password(folder):
    with Stack.start(Settings(data_dir=folder)) as stack:
        postgres, redis = (part.address for part in stack.status())
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(f"postgresql://callfold:wrong@{postgres}/callfold")
        assert ask_redis(f"redis://@{redis}/0", "PING").startswith(b"-NOAUTH")


def test_the_servers_are_set_up_for_the_ledger_and_the_broker(folder):
    with Stack.start(Settings(data_dir=folder)) as stack:
        assert execute(stack, "SHOW fsync") == [("on",)]
        assert execute(stack, "SHOW max_connections") == [("200",)]
        assert b"noeviction" in ask_redis(stack.urls.broker, "CONFIG GET maxmemory-policy")
        assert {url.rsplit("/")[-1] for url in (stack.urls.broker, stack.urls.result)} == {"0", "1"}


def test_a_killed_owner_is_cleaned_up_by_the_next_start(folder, start_owner):
    owner = start_owner(folder)
    left = status(Settings(data_dir=folder))
    owner.kill()
    owner.wait()
    assert [part.name for part in left if part.running] == ["postgres", "redis", "worker"]
    assert {part.pid for part in left} <= {process.pid for process in processes_of(folder)}
    with Stack.start(Settings(data_dir=folder)) as stack:
        assert stack.owned
        assert execute(stack, "SELECT 1") == [(1,)]
        assert not {part.pid for part in left} & {process.pid for process in processes_of(folder)}
    assert processes_of(folder) == []


def test_a_postgresql_that_no_state_names_is_found_by_its_own_pid_file(folder, start_owner):
    owner = start_owner(folder)
    owner.kill()
    owner.wait()
    Folder(folder).clear_state()
    with Stack.start(Settings(data_dir=folder)) as stack:
        assert execute(stack, "SELECT 1") == [(1,)]


def test_ctrl_c_in_the_terminal_stops_all_in_order_and_a_second_one_waits(folder, start_owner):
    owner = start_owner(folder, WARM_WORKER)
    wait_for((folder / "working").exists)
    os.killpg(owner.pid, signal.SIGINT)
    wait_for((folder / "ending").exists)
    os.killpg(owner.pid, signal.SIGINT)
    (folder / "go").touch()
    owner.wait()
    assert (folder / "ended warmly").exists()
    assert processes_of(folder) == []


def test_sigterm_stops_all_in_order(folder, start_owner):
    owner = start_owner(folder)
    owner.terminate()
    assert owner.wait() == 128 + signal.SIGTERM
    assert processes_of(folder) == []


def test_a_program_that_ends_is_started_again(broker_only, bare_folder):
    with Stack.start(broker_only) as stack:
        stack.run([Program("short", ("sh", "-c", "echo $BROKER_URL $EXTRA; exit 3"), env={"EXTRA": "more"})])
        wait_for(lambda: stack.status()[-1].restarts >= 2)
    lines = (bare_folder / "logs" / "short.log").read_text().splitlines()
    assert len(lines) >= 3
    assert set(lines) == {f"{stack.urls.broker} more"}


def test_a_program_that_cannot_be_executed_is_one_clear_line(broker_only):
    with Stack.start(broker_only) as stack, pytest.raises(StackError, match="cannot start ghost: /no/such/program"):
        stack.run([Program("ghost", ("/no/such/program",))])


def test_a_server_that_is_killed_comes_back_under_its_urls(folder):
    with Stack.start(Settings(data_dir=folder)) as stack:
        before = stack.status()
        for part in before:
            os.kill(part.pid, signal.SIGKILL)
        wait_for(lambda: all(part.restarts and part.running for part in stack.status()))
        wait_for(lambda: answers(stack))
        assert [part.address for part in stack.status()] == [part.address for part in before]


def test_a_program_that_does_not_end_in_time_is_killed_with_its_children(broker_only, bare_folder):
    script = f"trap '' TERM; {sys.executable} -c '{SLEEPER}' {bare_folder} & touch {bare_folder}/stubborn; wait"
    with Stack.start(broker_only) as stack:
        stack.run([Program("stubborn", ("sh", "-c", script), grace=0.2)])
        wait_for((bare_folder / "stubborn").exists)
    assert processes_of(bare_folder) == []


def test_a_shell_that_becomes_the_program_is_recognized(broker_only):
    with Stack.start(broker_only) as stack:
        stack.run([Program("shell", ("sh", "-c", "exec sleep 600"))])
        wait_for(lambda: recorded(broker_only, "shell").command == ("sleep", "600"))
        shell = recorded(broker_only, "shell").find()
    assert not has_life(shell)


def test_two_folders_run_side_by_side(folder, copy_folder):
    other_folder = copy_folder()
    with Stack.start(Settings(data_dir=folder)) as stack:
        with Stack.start(Settings(data_dir=other_folder)) as other:
            execute(other, "CREATE TABLE only_in_other ()")
        assert processes_of(other_folder) == []
        assert execute(stack, "SELECT to_regclass('only_in_other')") == [(None,)]


def test_a_second_start_attaches_and_stops_nothing(folder, start_owner):
    start_owner(folder)
    with Stack.start(Settings(data_dir=folder)) as attached:
        assert not attached.owned
        assert execute(attached, "SELECT 1") == [(1,)]
        with pytest.raises(StackError, match="owner"):
            attached.run([])
    assert all(part.running for part in attached.status())
    assert execute(attached, "SELECT 1") == [(1,)]


def test_a_second_start_with_another_database_is_refused(bare_folder, broker_only):
    with Stack.start(broker_only), pytest.raises(StackError, match="another DATABASE_URL"):
        Stack.start(Settings(data_dir=bare_folder, DATABASE_URL="postgresql://third/callfold"))


def test_a_second_start_gives_up_on_an_owner_that_never_gets_ready(bare_folder):
    held = Folder(bare_folder)
    held.prepare()
    with held.lock(), pytest.raises(StackError, match="not ready"):
        Stack.start(Settings(data_dir=bare_folder), patience=0.0)


def test_a_stranger_with_a_recorded_pid_is_not_killed(bare_folder, broker_only):
    with subprocess.Popen(["sleep", "600"]) as stranger:
        record = ProcessRecord.of(stranger.pid)
        reused = [
            record.model_copy(update={"started": record.started - 3600}),
            record.model_copy(update={"executable": "/usr/bin/redis-server"}),
        ]
        parts = [Part(name="worker", process=each, stop_signal=signal.SIGKILL, grace=0.1) for each in reused]
        left = Folder(bare_folder)
        left.prepare()
        left.write_state(State(owner=reused[0], parts=tuple(parts)))
        Stack.start(broker_only).stop()
        assert stranger.poll() is None
        stranger.kill()


def test_a_part_with_a_configured_url_is_not_started(bare_folder):
    outside = {"DATABASE_URL": "postgresql://h/d", "BROKER_URL": "amqp://h", "RESULT_URL": "redis://h/1"}
    with Stack.start(Settings(data_dir=bare_folder, **outside)) as stack:
        assert stack.status() == []
        assert stack.urls.as_env() == outside
    del outside["RESULT_URL"]
    with Stack.start(Settings(data_dir=bare_folder, **outside)) as stack:
        assert [part.name for part in stack.status()] == ["redis"]
        assert stack.urls.broker == "amqp://h"
        assert ask_redis(stack.urls.result, "PING") == b"+PONG\r\n"


def test_a_deep_path_below_a_closed_folder_works(copy_folder):
    deep = copy_folder("/".join(["a folder of forty characters, or nearly"] * 8))
    deep.parent.chmod(0o700)
    with Stack.start(Settings(data_dir=deep)) as stack:
        assert execute(stack, "SELECT 1") == [(1,)]
        assert ask_redis(stack.urls.broker, "PING") == b"+PONG\r\n"


def test_a_server_that_cannot_start_says_why_in_one_line(copy_folder):
    folder = copy_folder()
    (folder / "postgres" / "data" / "postgresql.conf").write_text("nonsense = on\n")
    with pytest.raises(StackError, match=r"postgres does not start: .*configuration file"):
        Stack.start(Settings(data_dir=folder))
    assert processes_of(folder) == []


def test_a_detached_stack_is_up_until_it_is_taken_down(folder):
    settings, owner = Settings(data_dir=folder), (sys.executable, "-c", OWNER, str(folder), SLEEPER)
    first, second = up(settings, owner), up(settings, owner)
    assert (first.started, second.started) == (True, False)
    assert first.pid == second.pid
    with Stack.start(settings) as attached:
        assert not attached.owned
    assert [part.name for part in status(settings) if part.running] == ["postgres", "redis", "worker"]
    assert down(settings)
    assert processes_of(folder) == []
    assert not down(settings)


def test_down_cleans_up_after_a_killed_owner(folder, start_owner):
    owner = start_owner(folder)
    owner.kill()
    owner.wait()
    assert down(Settings(data_dir=folder))
    assert processes_of(folder) == []


def test_an_owner_that_does_not_come_up_says_why(bare_folder):
    with pytest.raises(StackError, match="did not come up: no luck today"):
        up(Settings(data_dir=bare_folder), ("sh", "-c", "echo no luck today >&2; exit 1"))


def new_base():
    """Not pytest's own folder: pytest closes it to PostgreSQL's account again at any moment."""
    return tempfile.TemporaryDirectory(prefix="callfold-")


def processes_of(folder):
    """All living processes that have the folder in their command line."""
    return [process for process in psutil.process_iter() if names(process, str(folder)) and has_life(process)]


def kill_processes_of(folder):
    for process in processes_of(folder):
        process.kill()


def names(process, path):
    try:
        return process.pid != os.getpid() and any(path in word for word in process.cmdline())
    except psutil.Error:
        return False


def recorded(settings, name):
    return next(part.process for part in Folder(settings.data_dir).read_state().parts if part.name == name)


def execute(stack, statement):
    with psycopg.connect(stack.urls.database.replace("+psycopg", ""), autocommit=True) as connection:
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else None


def ask_redis(url, command):
    """The raw answer, after logging in where the URL has a password."""
    password, _, address = url.removeprefix("redis://").partition("@")
    host, port = address.split("/")[0].split(":")
    with socket.create_connection((host, int(port))) as connection, connection.makefile("rb") as answers:
        if password:
            connection.sendall(f"AUTH {password.removeprefix(':')}\r\n".encode())
            assert answers.readline() == b"+OK\r\n"
        connection.sendall(f"{command}\r\n".encode())
        return answers.readline() if command == "PING" else b"".join(answers.readline() for _ in range(5))


def answers(stack):
    try:
        return execute(stack, "SELECT 1") == [(1,)] and ask_redis(stack.urls.broker, "PING") == b"+PONG\r\n"
    except (psycopg.OperationalError, OSError):
        return False


def wait_for(condition, seconds=30.0):
    """Wait until the condition holds; the limit only ends a test that has failed."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.01)
