"""The data folder: where everything embedded lives, who owns it, and what runs there.

.callfold/
  lock         held by the owner; the kernel drops it when the owner dies, however it dies
  state.json   the owner, the URLs and every process (private: it holds passwords)
  postgres/    the cluster and its password
  redis/       its configuration; Redis keeps nothing on disk, the ledger is the truth
  logs/        one file per server and program
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from pydantic import BaseModel, ConfigDict, ValidationError

from pipeline.errors import StackError
from pipeline.stack.parts import Part
from pipeline.stack.processes import ProcessRecord
from pipeline.stack.urls import Urls


class State(BaseModel):
    """What runs: `urls` is None while the owner starts or stops; `ready` once its programs were started."""

    model_config = ConfigDict(frozen=True)

    owner: ProcessRecord
    urls: Urls | None = None
    ready: bool = False
    parts: tuple[Part, ...] = ()


class Folder:
    """The paths, the lock and the state of one data folder."""

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        self.postgres = self.path / "postgres"
        self.redis = self.path / "redis"
        self.logs = self.path / "logs"
        self._lock = self.path / "lock"
        self._state = self.path / "state.json"

    def prepare(self) -> None:
        """Make the folders, closed to other users. Raises StackError when that is not allowed."""
        with _translated(self.path):
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.redis.mkdir(mode=0o700, exist_ok=True)
            self.logs.mkdir(mode=0o700, exist_ok=True)

    def lock(self) -> IO[str] | None:
        """The open lock file, which holds the folder until it is closed; None when another owner holds it."""
        # flock, not lockf: a second stack in the same process is refused too. Children do not inherit the
        # descriptor, so that they cannot keep the folder locked after a kill -9 of the owner.
        with _translated(self.path):
            file = os.fdopen(os.open(self._lock, os.O_WRONLY | os.O_CREAT, 0o600), "w")
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.close()
                return None
            return file

    def read_state(self) -> State | None:
        """The last recorded state, by a living or a dead owner; None when nothing was left running."""
        try:
            return State.model_validate_json(self._state.read_bytes())
        except FileNotFoundError:
            return None
        except ValidationError as error:
            raise StackError(f"{self._state} is damaged: stop what it names by hand and remove it") from error

    def write_state(self, state: State) -> None:
        """Replace the state file as a whole. For the owner only."""
        fresh = self._state.with_suffix(".new")
        write_private(fresh, state.model_dump_json())
        fresh.replace(self._state)

    def clear_state(self) -> None:
        """Nothing runs here any more."""
        self._state.unlink(missing_ok=True)

    def log_of(self, name: str) -> Path:
        """Where a part's output goes."""
        return self.logs / f"{name}.log"

    def last_words(self, name: str) -> str:
        """Where to look, and the last line that a part wrote: for an error's message."""
        path = self.log_of(name)
        lines = path.read_text(errors="replace").split("\n") if path.exists() else []
        last = next((line.strip() for line in reversed(lines) if line.strip()), "no output")
        return f"{last} (see {path})"


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner may read, from its first byte on."""
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StackError(f"cannot use the data folder {path}: {error.strerror}: set CALLFOLD_DATA_DIR") from error
