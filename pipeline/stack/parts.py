"""A part of the running stack, as recorded: enough to find it again and to stop it, by whoever starts next."""

import os
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import psutil
import structlog
from pydantic import BaseModel, ConfigDict

from pipeline.stack.processes import ProcessRecord, has_life

log = structlog.get_logger(__name__)

_POLL_SECONDS = 0.02
#: How long the kernel may take to end a process that was killed.
_KILL_SECONDS = 5.0


class Part(BaseModel):
    """A server (it has an `address`) or a program. `grace` is how many seconds `stop_signal` may take."""

    model_config = ConfigDict(frozen=True)

    name: str
    process: ProcessRecord
    stop_signal: int
    grace: float
    restarts: int = 0
    address: str | None = None


@dataclass(frozen=True, slots=True)
class PartStatus:
    """What an operator sees of a part; `address` is host:port, without a password."""

    name: str
    pid: int
    running: bool
    restarts: int
    address: str | None

    @classmethod
    def of(cls, part: Part) -> "PartStatus":
        """Look whether the recorded process still runs."""
        running = part.process.find() is not None
        return cls(part.name, part.process.pid, running, part.restarts, part.address)


def stop(parts: Sequence[Part]) -> None:
    """Stop the programs, then the servers that they talk to. Parts that no longer run are left alone."""
    _stop_together([part for part in parts if part.address is None])
    _stop_together([part for part in parts if part.address is not None])


def kill_group(pid: int) -> None:
    """SIGKILL what a session leader left behind, such as the pool of a worker that died."""
    # macOS answers EPERM, not ESRCH, for a group of which only zombies are left.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def ends_by(deadline: float, process: psutil.Process) -> bool:
    """Wait until the process has ended (True) or the monotonic clock reaches `deadline` (False)."""
    while has_life(process):
        if time.monotonic() >= deadline:
            return False
        time.sleep(_POLL_SECONDS)
    return True


def _stop_together(parts: Sequence[Part]) -> None:
    """Only the leaders are signalled: a pool that gets SIGTERM itself could not finish its documents."""
    running = [(part, process) for part in parts if (process := part.process.find())]
    for part, process in running:
        with suppress(psutil.NoSuchProcess):
            process.send_signal(part.stop_signal)
    begun = time.monotonic()
    for part, process in running:
        if not ends_by(begun + part.grace, process):
            log.warning("part killed", part=part.name, pid=process.pid, grace=part.grace)
        kill_group(process.pid)
    for _, process in running:
        ends_by(time.monotonic() + _KILL_SECONDS, process)
