"""Starting servers: all at once, each on a free port, until it is ready."""

import time
from collections.abc import Sequence
from typing import Protocol

import structlog

from pipeline.errors import StackError
from pipeline.stack.folder import Folder
from pipeline.stack.ports import free_port
from pipeline.stack.programs import Program, Supervisor, next_delay

log = structlog.get_logger(__name__)

#: Long enough for PostgreSQL to recover from a crash.
READY_SECONDS = 120.0
#: Three more tries, doubling from 0.2 s.
_LONGEST_DELAY_SECONDS = 1.0
_POLL_SECONDS = 0.01


class Server(Protocol):
    """What PostgreSQL and Redis have in common."""

    def program(self, port: int) -> Program:
        """How to run it on this port."""

    def is_ready(self, pid: int, port: int) -> bool:
        """Whether the process `pid` serves on this port."""

    def urls(self, port: int) -> dict[str, str]:
        """Where its parts of the stack are, by the names of `Urls`."""


def start(servers: Sequence[Server], supervisor: Supervisor, folder: Folder) -> list[int]:
    """Start all servers, wait until each is ready, and return their ports. Raises StackError with the last output."""
    launches = [_Launch(server, supervisor, folder) for server in servers]
    return [launch.wait() for launch in launches]


class _Launch:
    """One server on its way up. Ending early is no verdict: another process may have taken the port first."""

    def __init__(self, server: Server, supervisor: Supervisor, folder: Folder) -> None:
        self._server, self._supervisor, self._folder = server, supervisor, folder
        self._spawn()

    def wait(self) -> int:
        delay = None
        while not self._is_up():
            delay = next_delay(delay, 0.0)
            if delay > _LONGEST_DELAY_SECONDS:
                raise StackError(f"{self._program.name} does not start: {self._last_words()}")
            log.warning("server ended while starting", program=self._program.name, again_in=delay)
            time.sleep(delay)
            self._spawn()
        return self._port

    def _spawn(self) -> None:
        self._port = free_port()
        self._program = self._server.program(self._port)
        self._child = self._supervisor.start(self._program)

    def _is_up(self) -> bool:
        """Wait until the server is ready (True) or has ended (False)."""
        deadline = time.monotonic() + READY_SECONDS
        while not self._server.is_ready(self._child.pid, self._port):
            if self._child.exit_code() is not None:
                self._supervisor.forget(self._child)
                return False
            if time.monotonic() >= deadline:
                raise StackError(f"{self._program.name} is not ready after {READY_SECONDS:.0f} s: {self._last_words()}")
            time.sleep(_POLL_SECONDS)
        return True

    def _last_words(self) -> str:
        return self._folder.last_words(self._program.name)
