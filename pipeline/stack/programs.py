"""Child programs: started in sessions of their own, watched, and started again when they die."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import structlog

from pipeline.errors import StackError
from pipeline.stack import account, signals
from pipeline.stack.parts import Part, kill_group, stop
from pipeline.stack.processes import ProcessRecord

log = structlog.get_logger(__name__)

FIRST_DELAY_SECONDS = 0.2
LONGEST_DELAY_SECONDS = 10.0
HEALTHY_SECONDS = 30.0
_WATCH_SECONDS = 0.1
_YOUNG_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Program:
    """A command to keep running. `env` is laid over this process's environment.

    `stop_signal` asks it to end within `grace` seconds. `user` is another account to run under, `address` the
    host:port that it serves.
    """

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    stop_signal: int = signal.SIGTERM
    grace: float = 10.0
    cwd: Path | None = None
    user: str | None = None
    address: str | None = None


def next_delay(previous: float | None, lived: float) -> float:
    """Seconds to wait before a restart, after a process that `lived` seconds: doubling until it is healthy."""
    if previous is None or lived >= HEALTHY_SECONDS:
        return FIRST_DELAY_SECONDS
    return min(previous * 2, LONGEST_DELAY_SECONDS)


class Child:
    """One program and its current process. Raises StackError when it cannot be executed."""

    _process: subprocess.Popen[bytes]
    _record: ProcessRecord
    _started: float

    def __init__(self, program: Program, log_path: Path) -> None:
        self.program, self._log_path = program, log_path
        self.restarts = 0
        self._delay: float | None = None
        self._due: float | None = None
        self._spawn()

    def part(self) -> Part:
        """The record by which a later start finds and stops this process."""
        return Part(
            name=self.program.name,
            process=self._record,
            stop_signal=self.program.stop_signal,
            grace=self.program.grace,
            restarts=self.restarts,
            address=self.program.address,
        )

    @property
    def pid(self) -> int:
        """The current process's id."""
        return self._process.pid

    def exit_code(self) -> int | None:
        """How the process ended, negative for a signal; None while it runs."""
        return self._process.poll()

    def reap(self) -> None:
        """Collect a process that was stopped."""
        self._process.wait()

    def tend(self, now: float) -> bool:
        """Plan a restart when the process has died, and do it when it is due. True when the record changed."""
        if self._due is None:
            if self._process.poll() is not None:
                self._plan_restart(now)
                return False
            return now - self._started < _YOUNG_SECONDS and self.recognize()
        return now >= self._due and self._restart(now)

    def recognize(self) -> bool:
        """Record the process anew; True when it has changed: a shell or a launcher may `exec` the real program.

        It is surely ours: until we collect a child, nobody else gets its pid.
        """
        record = ProcessRecord.of(self._process.pid)
        changed = record != self._record
        self._record = record
        return changed

    def _plan_restart(self, now: float) -> None:
        kill_group(self._process.pid)
        self._delay = next_delay(self._delay, now - self._started)
        self._due = now + self._delay
        log.warning(
            "program ended",
            program=self.program.name,
            pid=self._process.pid,
            exit_code=self._process.returncode,
            restart_in=self._delay,
        )

    def _restart(self, now: float) -> bool:
        try:
            self._spawn()
        except StackError as error:
            self._delay = next_delay(self._delay, 0.0)
            self._due = now + self._delay
            log.warning("program not restarted", program=self.program.name, error=str(error))
            return False
        self._due = None
        self.restarts += 1
        return True

    def _spawn(self) -> None:
        try:
            self._process = _execute(self.program, self._log_path)
        except OSError as error:
            raise StackError(f"cannot start {self.program.name}: {self.program.argv[0]}: {error.strerror}") from error
        self._started = time.monotonic()
        self._record = ProcessRecord.of(self._process.pid)


class Supervisor:
    """Keeps children running until it is stopped. `changed` is told all parts whenever one is another process."""

    def __init__(self, log_of: Callable[[str], Path], changed: Callable[[tuple[Part, ...]], None]) -> None:
        self._log_of, self._changed = log_of, changed
        self._children: list[Child] = []
        self._guard = threading.Lock()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="supervisor", daemon=True)

    def start(self, program: Program) -> Child:
        """Start a program, from now on supervised. Raises StackError when it cannot be executed."""
        with signals.deferred(), self._guard:  # no process may start without being recorded
            child = Child(program, self._log_of(program.name))
            self._children.append(child)
            self._tell()
        return child

    def forget(self, child: Child) -> None:
        """Give up on a program that ended while it was starting."""
        with self._guard:
            self._children.remove(child)
            self._tell()

    def watch(self) -> None:
        """Begin to restart what dies."""
        self._thread.start()

    def stop(self) -> None:
        """Stop all children, programs before servers, and collect them."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()
        for child in self._children:
            child.recognize()
        stop([child.part() for child in self._children])
        for child in self._children:
            child.reap()

    def _watch(self) -> None:
        while not self._stopping.wait(_WATCH_SECONDS):
            with self._guard:
                changed = [child for child in self._children if child.tend(time.monotonic())]
                if changed:
                    self._tell()

    def _tell(self) -> None:
        self._changed(tuple(child.part() for child in self._children))


def _execute(program: Program, log_path: Path) -> subprocess.Popen[bytes]:
    """A session of its own: the terminal's Ctrl-C reaches only the owner, which stops the rest in order."""
    with log_path.open("ab") as output:
        return subprocess.Popen(  # noqa: S603 - the caller's own argv, no shell
            program.argv,
            env={**os.environ, **program.env},
            cwd=program.cwd,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            **account.identity(program.user),
        )
