"""The app that the workers of a benchmark run: Callfold's own, with a no-op task beside its tasks.

So the plain chord and the pipeline are worked on by the very same processes, with the same settings and broker.
"""

import time
from collections.abc import Sequence

from celery import chord

from tasks import queues
from tasks.app import app, connect

__all__ = ["app", "connect", "run_plain_chord"]


@app.task(name="benchmarks.nothing", ignore_result=True)  # type: ignore[untyped-decorator]  # Celery has no types
def nothing(_number: int) -> None:
    """A header of the plain chord."""


@app.task(name="benchmarks.everything", ignore_result=False)  # type: ignore[untyped-decorator]  # Celery has no types
def everything(_results: Sequence[None]) -> float:
    """The callback of the plain chord: when it ran, in seconds of the epoch."""
    return time.time()


def run_plain_chord(size: int, patience: float) -> float:
    """Seconds from the start of publishing `size` no-op headers until their callback ran."""
    headers = [nothing.si(number).set(queue=queues.PROCESS.name) for number in range(size)]
    callback = everything.s().set(queue=queues.REDUCE.name)
    began = time.time()
    called_back = chord(headers, app=app)(callback).id
    ended = _result(called_back, patience)
    return ended - began


def _result(task_id: str, patience: float) -> float:
    """By its id alone: a result that knows its parents asks for the state of every header again and again."""
    result: float = app.AsyncResult(task_id).get(timeout=patience)
    return result
