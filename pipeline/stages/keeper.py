"""The texts that a process's attempts are writing: one thread and one statement keep checkpoints of all that are due.

A slot never waits for a checkpoint but for the one that says that a text is whole.
"""

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import monotonic
from typing import Final, Protocol
from uuid import UUID

import structlog

from pipeline.domain.cadence import Cadence, whole_sentences
from pipeline.ledger import checkpoints
from pipeline.ledger.checkpoints import Checkpoint, Kept
from pipeline.ledger.connection import Ledger
from pipeline.summarizers.port import Origin, Step

log = structlog.get_logger(__name__)

_LOOK_SECONDS: Final = 0.5


class Show(Protocol):
    """Shows live text to whoever watches: `offset` is where in the step's text, in code points, the words begin."""

    def __call__(self, job_id: UUID, position: int, step: str, chunk: int, offset: int, words: str) -> None:
        """Never blocks for long and never raises."""


@dataclass(frozen=True, slots=True)
class Holder:
    """The item that a text belongs to, and the attempt that writes it."""

    job_id: UUID
    position: int
    attempt_id: UUID


class Manuscript:
    """A text in the making (the port's Writing), shared between its slot and the keeper's thread."""

    def __init__(self, holder: Holder, step: Step, origin: Origin, found: Checkpoint | None, show: Show) -> None:
        self.text = "" if found is None else found.text
        self.done = found is not None and found.done
        self.progress = 0
        self.cadence = Cadence(monotonic())
        self.holder, self.step, self.origin = holder, step, origin
        self.on_finish: Callable[[Manuscript], None] = lambda _: None
        self._show = show
        self._lock = threading.Lock()

    def add(self, words: str) -> None:
        """Some more of it has come."""
        with self._lock:
            offset, self.text = len(self.text), self.text + words
            self.cadence.heard(words)
        holder, step = self.holder, self.step
        self._show(holder.job_id, holder.position, step.name, step.chunk, offset, words)

    def restart(self) -> None:
        """What is there is no good: it is written anew."""
        with self._lock:
            self.text, self.done = "", False

    def finish(self, progress: int) -> None:
        """It is whole: kept before anything else is paid for."""
        with self._lock:
            self.done, self.progress = True, progress
        self.on_finish(self)

    def kept(self) -> Kept:
        """What of it is worth a checkpoint now; from here on that counts as kept."""
        with self._lock:
            text = self.text if self.done else whole_sentences(self.text)
            self.cadence.kept(monotonic())
        origin = self.origin
        checkpoint = Checkpoint(
            step=self.step.name,
            chunk=self.step.chunk,
            input_sha256=origin.input_sha256,
            prompt_version=origin.prompt_version,
            model=origin.model,
            parameters=origin.parameters,
            seed=origin.seed,
            text=text,
            done=self.done,
        )
        return Kept(self.holder.job_id, self.holder.position, self.holder.attempt_id, self.progress, checkpoint)


class Keeper:
    """Looks twice a second for what is due among the texts `watched`, until `stop`."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._watched: dict[UUID, Manuscript] = {}
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def watch(self, text: Manuscript) -> None:
        """Keep this text from now on: an attempt writes one at a time."""
        with self._lock:
            self._watched[text.holder.attempt_id] = text
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="keeper", daemon=True)
                self._thread.start()

    def forget(self, attempt_id: UUID) -> Manuscript | None:
        """The attempt writes no more; gives the text that it was writing."""
        with self._lock:
            return self._watched.pop(attempt_id, None)

    def stop(self) -> None:
        """End the thread."""
        self._stopped.set()

    def _run(self) -> None:
        while not self._stopped.wait(_LOOK_SECONDS):
            with self._lock:
                watched = list(self._watched.values())
            now = monotonic()
            due = [text for text in watched if not text.done and text.cadence.due(now)]
            if due:
                self._keep(due)

    def _keep(self, due: Iterable[Manuscript]) -> None:
        rows = [text.kept() for text in due]
        try:
            with self._ledger.statement() as tx:
                checkpoints.keep(tx, rows)
        except Exception as error:  # noqa: BLE001 - nobody starts this thread again, and the next checkpoint holds all
            log.warning("keeper.not_kept", texts=len(rows), error=type(error).__name__)
