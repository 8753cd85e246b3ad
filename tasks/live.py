"""Live text: what attempts are writing, over Redis pub/sub to whoever listens at this moment.

Channel `callfold.live.<job_id>.<position>`, a message a quarter second at most: JSON with `step`, `chunk`, `offset` and
`words`. The words begin at `offset` (code points) in the step's text; what a listener had from there on is replaced by
them. There is no id: what was missed is missed, Redis stores nothing, and only the ledger is true.
"""

import json
import threading
from time import monotonic
from typing import Final
from uuid import UUID

import structlog
from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

log = structlog.get_logger(__name__)

_EACH_SECONDS: Final = 0.25
#: How long one step of talking to Redis may take, and how long it is left alone once one has failed.
_PATIENCE_SECONDS: Final = 0.5
_QUIET_SECONDS: Final = 5.0


def channel(job_id: UUID, position: int) -> str:
    """Where the live text of a document is heard."""
    return f"callfold.live.{job_id}.{position}"


class Live:
    """Collects words, and publishes them by a thread of its own: who writes neither waits nor fails.

    While Redis is away words are dropped.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        #: by document, step and chunk: where the words begin, and the words
        self._pending: dict[tuple[UUID, int, str, int], tuple[int, str]] = {}
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._redis: Redis | None = None
        self._quiet_until: float | None = None

    def __call__(self, job_id: UUID, position: int, step: str, chunk: int, offset: int, words: str) -> None:
        """Some words have come; what does not go on where the last ones ended takes their place."""
        text = (job_id, position, step, chunk)
        with self._lock:
            begin, before = self._pending.get(text, (offset, ""))
            goes_on = begin + len(before) == offset
            self._pending[text] = (begin, before + words) if goes_on else (offset, words)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="live", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """End the thread."""
        self._stopped.set()

    def _run(self) -> None:
        while not self._stopped.wait(_EACH_SECONDS):
            with self._lock:
                pending, self._pending = self._pending, {}
            if pending and (self._quiet_until is None or monotonic() >= self._quiet_until):
                self._try(pending)

    def _try(self, pending: dict[tuple[UUID, int, str, int], tuple[int, str]]) -> None:
        try:
            self._publish(pending)
            self._quiet_until = None
        except Exception as error:  # noqa: BLE001 - nobody starts this thread again, and nobody's work depends on it
            if self._quiet_until is None:
                log.warning("live.quiet", error=type(error).__name__)
            self._quiet_until = monotonic() + _QUIET_SECONDS

    def _publish(self, pending: dict[tuple[UUID, int, str, int], tuple[int, str]]) -> None:
        if self._redis is None:
            self._redis = _connected(self._url)
        pipeline = self._redis.pipeline(transaction=False)
        for (job_id, position, step, chunk), (offset, words) in pending.items():
            message = {"step": step, "chunk": chunk, "offset": offset, "words": words}
            pipeline.publish(channel(job_id, position), json.dumps(message))
        pipeline.execute()


def _connected(url: str) -> Redis:
    """Celery's name for a Unix socket is another one than the library's. A sentinel cannot be asked: ValueError."""
    return Redis.from_url(
        url.replace("redis+socket://", "unix://", 1),
        socket_timeout=_PATIENCE_SECONDS,
        socket_connect_timeout=_PATIENCE_SECONDS,
        retry=Retry(NoBackoff(), 0),
    )
