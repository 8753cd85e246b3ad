"""The app that the workers of a benchmark run: Callfold's own, with a no-op task beside its tasks.

So the plain chord and the pipeline are worked on by the very same processes, with the same settings and broker.
"""

import time
from collections.abc import Sequence

from celery import Task, chord

from tasks import queues
from tasks.app import app, connect

_POLL = 0.05

__all__ = ["app", "connect", "run_plain_chord"]


@app.task(name="benchmarks.nothing", ignore_result=True)  # type: ignore[untyped-decorator]  # Celery has no types
def nothing(_number: int) -> None:
    """A header of the plain chord."""


@app.task(name="benchmarks.everything", bind=True, ignore_result=True)  # type: ignore[untyped-decorator]  # see above
def everything(self: Task, _results: Sequence[None]) -> None:
    """The callback of the plain chord says when it ran, in seconds of the epoch."""
    app.backend.set(self.request.id, str(time.time()))


def run_plain_chord(size: int, patience: float) -> float:
    """Seconds from the start of publishing `size` no-op headers until their callback ran."""
    headers = [nothing.si(number).set(queue=queues.PROCESS.name, ignore_result=True) for number in range(size)]
    callback = everything.s().set(queue=queues.REDUCE.name, ignore_result=True)
    began = time.time()
    return _called_back_at(chord(headers, app=app)(callback).id, patience) - began


def _called_back_at(task_id: str, patience: float) -> float:
    """Not by Celery's result: waiting on a chord's asks for every header as well, again and again."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        said = app.backend.get(task_id)
        if said is not None:
            return float(said)
        time.sleep(_POLL)
    raise TimeoutError(f"no callback within {patience:.0f} s: see the workers' logs")
