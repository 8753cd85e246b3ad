"""What goes wrong in a hop stays in the log: by type and place, never by the error's own words.

Celery would send an exception's text to Flower and into the result backend, and it may quote a document. Nothing is
lost by ending quietly: the ledger says what is still to be done, and reconcile asks for it again.
"""

import logging
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

import structlog

from pipeline.errors import CallfoldError, NotFound

log = structlog.get_logger(__name__)


@contextmanager
def recorded(hop: str, **ids: object) -> Iterator[None]:
    """End the block quietly, whatever is raised in it."""
    try:
        yield
    except CallfoldError as error:
        # A message may outlive its job.
        level = logging.INFO if isinstance(error, NotFound) and error.kind == "job" else logging.ERROR
        log.log(level, "hop.ended_early", hop=hop, **ids, code=error.code, detail=str(error))
    except BaseException as error:  # noqa: BLE001 - a thread's slot leaks if MemoryError or SystemExit leaves the task
        places = [f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]
        log.error("hop.internal_error", hop=hop, **ids, error=type(error).__name__, places=places)
