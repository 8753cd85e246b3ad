"""A stack in the background: `up` starts a process that owns it, `down` ends that process.

The background process is an ordinary owner: a program of the caller that enters `Stack.start`, calls `run` and then
`wait`. So there is one way to own a stack, and what must happen between the servers and the programs (migrations)
stays with the caller.
"""

import os
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import psutil

from pipeline.errors import StackError
from pipeline.settings import Settings
from pipeline.stack.folder import Folder, State
from pipeline.stack.owner import stop_leftovers
from pipeline.stack.parts import ends_by

_LOG_NAME = "up"
_UP_SECONDS = 180.0
_DOWN_SECONDS = 120.0
_POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Up:
    """The owner's pid, and whether this call started it: otherwise the stack was up already."""

    pid: int
    started: bool


def up(settings: Settings, argv: Sequence[str]) -> Up:
    """Run `argv` in the background and wait until it owns a ready stack; its output goes to logs/up.log.

    It gets this process's environment and working folder. Raises StackError with its last line when it ends early.
    """
    folder = Folder(settings.data_dir)
    folder.prepare()
    other = _wait_for_other(folder)
    if other is not None:
        return Up(other, started=False)
    child = _spawn(folder, argv)
    try:
        owner = _wait_ready(folder, child)
    except KeyboardInterrupt:  # the terminal's Ctrl-C does not reach it
        os.kill(child, signal.SIGTERM)
        raise
    return Up(owner, started=owner == child)


def down(settings: Settings) -> bool:
    """Stop the owner of the data folder, in order, and wait until nothing runs. False when nothing was running.

    What a killed owner has left is stopped too. Raises StackError when the owner does not end.
    """
    folder = Folder(settings.data_dir)
    if not folder.path.exists():
        return False
    deadline = time.monotonic() + _DOWN_SECONDS
    owner: psutil.Process | None = None
    while (lock := folder.lock()) is None:
        owner = owner or _ask_to_end(folder.read_state())
        if time.monotonic() >= deadline:
            raise StackError(f"the owner of {folder.path} does not end: see {folder.logs}")
        time.sleep(_POLL_SECONDS)
    with lock:
        was_running = owner is not None or folder.read_state() is not None
        stop_leftovers(folder)
    if owner:
        ends_by(deadline, owner)
    return was_running


def _is_free(folder: Folder) -> bool:
    lock = folder.lock()
    if lock:
        lock.close()
    return lock is not None


def _spawn(folder: Folder, argv: Sequence[str]) -> int:
    """A session of its own: it outlives this process and its terminal."""
    log_path = str(folder.log_of(_LOG_NAME))
    append = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    try:
        return os.posix_spawnp(
            argv[0],
            list(argv),
            os.environ,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, log_path, append, 0o600),
                (os.POSIX_SPAWN_DUP2, 1, 2),
            ],
            setsid=True,
        )
    except OSError as error:
        raise StackError(f"cannot start {argv[0]} in the background: {error.strerror}") from error


def _wait_for_other(folder: Folder) -> int | None:
    """The pid of another owner once its programs run; None once nobody holds the folder: its owner may be ending."""
    deadline = time.monotonic() + _UP_SECONDS
    while not _is_free(folder):
        if (owner := _ready_owner(folder)) is not None:
            return owner
        _check_time(folder, deadline)
        time.sleep(_POLL_SECONDS)
    return None


def _wait_ready(folder: Folder, child: int) -> int:
    """The pid of the owner once its programs run; the child may end early, or another may own the folder first."""
    deadline = time.monotonic() + _UP_SECONDS
    while (owner := _ready_owner(folder)) is None:
        if os.waitpid(child, os.WNOHANG) != (0, 0):
            raise StackError(f"the stack did not come up: {folder.last_words(_LOG_NAME)}")
        _check_time(folder, deadline)
        time.sleep(_POLL_SECONDS)
    return owner


def _ready_owner(folder: Folder) -> int | None:
    state = folder.read_state()
    return state.owner.pid if state and state.ready and state.owner.find() else None


def _check_time(folder: Folder, deadline: float) -> None:
    if time.monotonic() >= deadline:
        raise StackError(f"the stack is not ready after {_UP_SECONDS:.0f} s: {folder.last_words(_LOG_NAME)}")


def _ask_to_end(state: State | None) -> psutil.Process | None:
    """SIGTERM the recorded owner and return it; None while there is none to ask."""
    owner = state.owner.find() if state else None
    if owner:
        with suppress(psutil.NoSuchProcess):
            owner.send_signal(signal.SIGTERM)
    return owner
