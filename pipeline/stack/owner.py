"""The process that holds a data folder: it starts what runs there, records it, and stops it."""

import os
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import IO, Any

import structlog

from pipeline.stack import parts, servers, signals
from pipeline.stack.folder import Folder, State
from pipeline.stack.parts import Part
from pipeline.stack.postgres import Postgres
from pipeline.stack.processes import ProcessRecord
from pipeline.stack.programs import Program, Supervisor
from pipeline.stack.redis import Redis
from pipeline.stack.servers import Server
from pipeline.stack.urls import Urls

log = structlog.get_logger(__name__)


class Owner:
    """Holds the folder by its open `lock` file until `stop`."""

    def __init__(self, folder: Folder, lock: IO[str]) -> None:
        self._folder, self._lock = folder, lock
        self._signals = ExitStack()
        self._signals.enter_context(signals.ending_in_order())
        self._supervisor = Supervisor(folder.log_of, self._record)
        self._guard = threading.Lock()
        self._state = State(owner=ProcessRecord.of(os.getpid()))

    def start(self, configured: Mapping[str, str]) -> Urls:
        """Stop what the last owner left, then start the servers that have no configured URL. Raises StackError."""
        stop_leftovers(self._folder)
        self._change()
        embedded = _embedded(self._folder, configured)
        ports = servers.start(embedded, self._supervisor, self._folder)
        found = {
            part: url for server, port in zip(embedded, ports, strict=True) for part, url in server.urls(port).items()
        }
        urls = Urls(**{**found, **configured})
        self._supervisor.watch()
        self._change(urls=urls)
        return urls

    def run(self, programs: Sequence[Program], urls: Urls) -> None:
        """Start the programs, told where the stack is, and keep them running."""
        env = {**urls.as_env(), "CALLFOLD_DATA_DIR": str(self._folder.path)}
        for program in programs:
            self._supervisor.start(replace(program, env={**env, **program.env}))
        self._change(ready=True)

    def stop(self) -> None:
        """Stop everything in order and let the folder go. Another Ctrl-C meanwhile waits until that is done."""
        with self._signals, signals.deferred():
            self._change(urls=None, ready=False)
            self._supervisor.stop()
            self._folder.clear_state()
            self._lock.close()

    def _record(self, running: tuple[Part, ...]) -> None:
        self._change(parts=running)

    def _change(self, **fields: Any) -> None:
        with self._guard:  # the supervisor's thread records restarts
            self._state = self._state.model_copy(update=fields)
            try:
                self._folder.write_state(self._state)
            except OSError as error:  # a full disk must neither end supervision nor keep us from stopping
                log.error("state not recorded", folder=str(self._folder.path), error=error.strerror)


def stop_leftovers(folder: Folder) -> None:
    """Stop what an owner that was killed has left running, and forget it. For the holder of the lock only."""
    state = folder.read_state()
    if state is None:
        return
    log.warning("cleaning up after a killed owner", owner=state.owner.pid, parts=[part.name for part in state.parts])
    parts.stop(state.parts)
    folder.clear_state()


def _embedded(folder: Folder, configured: Mapping[str, str]) -> list[Server]:
    """The servers that are needed: both broker and results may be the same Redis."""
    wanted: list[Server] = []
    if "database" not in configured:
        wanted.append(Postgres(folder.postgres))
    if not {"broker", "result"} <= configured.keys():
        wanted.append(Redis(folder.redis))
    return wanted
