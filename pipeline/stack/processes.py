"""Who a process is, beyond its pid.

A pid alone names nobody for long: after a kill -9, a reboot or a container's restart it may be a stranger's.
"""

from typing import Self

import psutil
from pydantic import BaseModel, ConfigDict

#: Linux derives start times from the boot time, which moves when the clock is set.
_CLOCK_SLACK_SECONDS = 2.0


class ProcessRecord(BaseModel):
    """A process as it was when it started: `started` in epoch seconds, `command` its argv, `executable` its file.

    The executable decides where it may be read: programs rewrite their argv, Celery with setproctitle among them.
    Root without CAP_SYS_PTRACE, as in a container, may not read it for another account's process.
    """

    model_config = ConfigDict(frozen=True)

    pid: int
    started: float
    command: tuple[str, ...]
    executable: str | None

    @classmethod
    def of(cls, pid: int) -> Self:
        """Record a running process. One that has already ended gets a record that matches nobody."""
        try:
            return cls._read(psutil.Process(pid))
        except psutil.NoSuchProcess:
            return cls(pid=pid, started=0.0, command=(), executable=None)

    def find(self) -> psutil.Process | None:
        """The very same process if it still runs; None for a stranger with its pid and for a zombie."""
        try:
            process = psutil.Process(self.pid)
            return process if has_life(process) and self._is(self._read(process)) else None
        except psutil.Error:
            return None

    def _is(self, other: Self) -> bool:
        if abs(self.started - other.started) > _CLOCK_SLACK_SECONDS:
            return False
        if self.executable and other.executable:
            return self.executable == other.executable
        return self.command == other.command

    @classmethod
    def _read(cls, process: psutil.Process) -> Self:
        try:
            executable = process.exe() or None
        except psutil.AccessDenied:
            executable = None
        return cls(
            pid=process.pid,
            started=process.create_time(),
            command=tuple(process.cmdline()),
            executable=executable,
        )


def has_life(process: psutil.Process) -> bool:
    """Whether it still runs: a zombie has ended, its parent has just not looked yet."""
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
