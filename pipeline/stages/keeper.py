"""The texts that a process's attempts are writing: one thread and one statement keep checkpoints of all that are due.

A slot waits for a checkpoint only where that says that a text is whole, or where its attempt ends.
"""

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import monotonic
from typing import Final, Protocol
from uuid import UUID

import structlog

from pipeline.domain.cadence import Cadence, whole_sentences
from pipeline.domain.text import storable
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


@dataclass(slots=True)
class Pen:
    """What an attempt writes its texts with: the item that it holds, how far that is, and its last checkpoint."""

    job_id: UUID
    position: int
    attempt_id: UUID
    progress: int = 0
    cursor: int = 0


class Manuscript:
    """A text in the making (the port's Writing), shared between its slot and the keeper's thread.

    `keep` stores the text as it is now, and comes back when it is stored.
    """

    def __init__(
        self,
        pen: Pen,
        step: Step,
        origin: Origin,
        found: Checkpoint | None,
        *,
        keep: Callable[["Manuscript"], None],
        show: Show,
    ) -> None:
        self.text = "" if found is None else found.text
        self.done = found is not None and found.done
        self.pen, self.step, self.origin = pen, step, origin
        self.cadence = Cadence(monotonic())
        #: what the ledger has of it; None: nobody knows, for a draft of before a restart is under way
        self._stored: tuple[str, bool] | None = (self.text, self.done)
        self._drafted = 0
        self._keep, self._show = keep, show
        self._lock = threading.Lock()

    def add(self, words: str) -> None:
        """Some more of it has come."""
        words = storable(words)
        with self._lock:
            offset, self.text = len(self.text), self.text + words
            self.cadence.heard(words)
        pen, step = self.pen, self.step
        self._show(pen.job_id, pen.position, step.name, step.chunk, offset, words)

    def restart(self) -> None:
        """What is there is no good: it is written anew, and what was kept of it is overwritten at once.

        A draft that is under way has an older number, and an answer to it says nothing any more.
        """
        with self._lock:
            self.text, self.done = "", False
            self.cadence.restarted()
            if self._drafted:
                self._stored, self._drafted = None, 0
        self._keep(self)

    def finish(self, progress: int) -> None:
        """It is whole: kept before anything else is paid for."""
        with self._lock:
            self.done = True
            self.pen.progress = max(self.pen.progress, progress)
        self._keep(self)

    def draft(self) -> Kept | None:
        """What of it is worth a checkpoint now; None where that is what is stored."""
        with self._lock:
            if (self.text, self.done) == self._stored:
                return None  # its last sentence stays whole, though no blank follows it
            text = self.text if self.done else whole_sentences(self.text)
            if (text, self.done) == self._stored:
                return None
            self.cadence.tried(monotonic())
            self.pen.cursor += 1
            self._drafted = self.pen.cursor
            origin, pen = self.origin, self.pen
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
            return Kept(pen.job_id, pen.position, pen.attempt_id, pen.progress, pen.cursor, checkpoint)

    def tried(self, row: Kept, *, kept: bool) -> None:
        """The checkpoint is stored, or it is due again; of an older one than the last nothing follows."""
        with self._lock:
            if row.cursor != self._drafted:
                return
            if kept:
                self._stored = (row.checkpoint.text, row.checkpoint.done)
            else:
                self.cadence.missed()


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
            self._watched[text.pen.attempt_id] = text
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
            due = [text for text in watched if not text.done and text.cadence.due(now, _LOOK_SECONDS)]
            self._keep((text, row) for text in due if (row := text.draft()) is not None)

    def _keep(self, drafts: Iterable[tuple[Manuscript, Kept]]) -> None:
        """What is not kept, for PostgreSQL is away or its item is locked or in other hands, is tried again."""
        made, kept = list(drafts), set[tuple[UUID, int]]()
        if not made:
            return
        try:
            with self._ledger.statement() as tx:
                kept = checkpoints.keep(tx, [row for _, row in made])
        except Exception as error:  # noqa: BLE001 - nobody starts this thread again, and the next checkpoint holds all
            log.warning("keeper.not_kept", texts=len(made), error=type(error).__name__)
        for text, row in made:
            text.tried(row, kept=(row.job_id, row.position) in kept)
