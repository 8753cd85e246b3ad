"""The stack as its users hold it: owned by this process, or attached to what another process owns."""

import signal
import time
from collections.abc import Sequence
from typing import Self

import structlog

from pipeline.errors import StackError
from pipeline.settings import Settings
from pipeline.stack.folder import Folder
from pipeline.stack.owner import Owner
from pipeline.stack.parts import PartStatus
from pipeline.stack.programs import Program
from pipeline.stack.urls import Urls, configured

log = structlog.get_logger(__name__)

#: How long a second start waits for the first, which may be making its cluster.
PATIENCE_SECONDS = 60.0
_POLL_SECONDS = 0.05


class Stack:
    """A running stack: `urls` say where its parts are, `owned` whether this process started them and stops them."""

    def __init__(self, folder: Folder, urls: Urls, owner: Owner | None) -> None:
        self.urls, self.owned = urls, owner is not None
        self._folder, self._owner = folder, owner

    @classmethod
    def start(cls, settings: Settings, *, patience: float = PATIENCE_SECONDS) -> Self:
        """Start the embedded servers, or attach to those that another process owns on this data folder.

        From here to `stop`, SIGTERM and SIGHUP end an owner by SystemExit, so that `with` stops its stack. Waits
        `patience` seconds for another owner that is starting or stopping. Raises StackError, one clear line.
        """
        folder, given = Folder(settings.data_dir), configured(settings)
        folder.prepare()
        deadline = time.monotonic() + patience
        while (lock := folder.lock()) is None:
            state = folder.read_state()
            if state and state.urls and state.owner.find():
                state.urls.check_agree_with(given)
                log.info("stack attached", owner=state.owner.pid, folder=str(folder.path))
                return cls(folder, state.urls, None)
            if time.monotonic() >= deadline:
                raise StackError(f"another process holds {folder.path} and is not ready: wait for it, or stop it")
            time.sleep(_POLL_SECONDS)
        owner = Owner(folder, lock)
        try:
            return cls(folder, owner.start(given), owner)
        except BaseException:
            owner.stop()
            raise

    def run(self, programs: Sequence[Program]) -> None:
        """Start programs and keep them running: DATABASE_URL, BROKER_URL, RESULT_URL and CALLFOLD_DATA_DIR are set
        for them, their output goes to logs/<name>.log. Only for an owned stack: an attached one has its programs.
        """
        if self._owner is None:
            raise StackError("programs are run by the owner of the stack, and this process is only attached to it")
        self._owner.run(programs, self.urls)

    def wait(self) -> None:
        """Block until an interrupt (Ctrl-C, SIGTERM, SIGHUP) leaves by its exception."""
        while True:
            signal.pause()

    def stop(self) -> None:
        """Stop programs, then servers, in order. Nothing happens when attached or already stopped."""
        owner, self._owner = self._owner, None
        if owner:
            owner.stop()

    def status(self) -> list[PartStatus]:
        """All servers and programs of the stack, whoever owns it."""
        return _status(self._folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def status(settings: Settings) -> list[PartStatus]:
    """What runs on the data folder, without starting anything; empty when nothing does."""
    return _status(Folder(settings.data_dir))


def urls_of(settings: Settings) -> Urls | None:
    """Where the stack that runs on the data folder is reached; None when no owner lives."""
    state = Folder(settings.data_dir).read_state()
    return state.urls if state and state.owner.find() else None


def _status(folder: Folder) -> list[PartStatus]:
    state = folder.read_state()
    return [PartStatus.of(part) for part in state.parts] if state else []
