"""Lanes: a chord that stays small, and the baton that is handed from document to document.

`admit` opens K lanes as the K headers of one flat chord whose callback is the reducer. A document that settles
publishes the lane's next one as a new task with the same group, chord and index, and drops its own membership, so it
ends as an ordinary successful task. A lane with nothing left to release ends with its membership and counts. So the
chord has K parts, whatever the size of the job.
"""

from collections.abc import Iterable, Sequence
from uuid import UUID

import structlog
from celery import Signature, chord
from celery.app.task import Context
from kombu.entity import Queue
from kombu.exceptions import OperationalError

from pipeline.ledger.releases import Released
from pipeline.stages.commands import Admit, Command, Deliver, Freeze, Notify, Process, Reduce
from pipeline.stages.process import Processed
from tasks import queues
from tasks.app import app

log = structlog.get_logger(__name__)


def open_lanes(job_id: UUID, released: Sequence[Released]) -> None:
    """Publish a job's first documents as the headers of its chord; a single lane needs none."""
    if len(released) == 1:
        publish([Process(released[0])])
    elif released:
        headers = [
            app.signature(
                "tasks.process", args=_arguments(one), immutable=True, task_id=str(one.dispatch_id), queue=_queue(one)
            )
            for one in released
        ]
        with _left_to_reconcile("chord"):
            chord(headers, app=app)(_reducer(job_id).on_error(_reducer(job_id)))


def _reducer(job_id: UUID) -> Signature:
    return app.signature("tasks.reduce", args=(str(job_id),), immutable=True)


def hand_on(request: Context, done: Processed) -> None:
    """After a document's message: the baton to the next one, or what else follows. Nothing raises after the settle."""
    membership = request.chord
    if not done.settled:
        request.chord = None
        publish(done.commands)
        return
    if done.next is not None:
        request.chord = None
        _publish_process(
            done.next,
            group_id=request.group,
            group_index=request.group_index,
            chord=membership,
        )
        return
    # The lane ends here. A chord that is whole wakes the reducer; without one, this message does.
    publish(command for command in done.commands if membership is None or not isinstance(command, Reduce))


def publish(commands: Iterable[Command]) -> None:
    """Publish what a stage asked for. A publish that fails is logged and left to reconcile."""
    for command in commands:
        match command:
            case Process(released):
                _publish_process(released)
            case Admit(job_id):
                _send("tasks.admit", str(job_id))
            case Reduce(job_id):
                _send("tasks.reduce", str(job_id))
            case Freeze(job_id):
                _send("tasks.freeze", str(job_id))
            case Notify(job_id, tries):
                _send("tasks.notify", str(job_id), tries)
            case Deliver(job_id):
                _send("tasks.deliver", str(job_id))


def _publish_process(released: Released, **membership: object) -> None:
    with _left_to_reconcile("tasks.process"):
        app.send_task(
            "tasks.process",
            _arguments(released),
            task_id=str(released.dispatch_id),
            queue=_queue(released),
            ignore_result=True,
            add_to_parent=False,
            **membership,
        )


def _send(task: str, *arguments: str | int) -> None:
    with _left_to_reconcile(task):
        app.send_task(task, arguments, ignore_result=True, add_to_parent=False)


def _queue(released: Released) -> Queue:
    return queues.ALONE if released.alone else queues.PROCESS


def _arguments(released: Released) -> tuple[str, int, str]:
    return str(released.job_id), released.position, str(released.dispatch_id)


class _left_to_reconcile:  # noqa: N801 - reads as the clause it is
    """A publish that fails loses nothing: reconcile finds what has not started and publishes it again."""

    def __init__(self, task: str) -> None:
        self._task = task

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        if kind is None or not issubclass(kind, OperationalError | OSError):
            return False
        log.warning("lanes.not_published", task=self._task, error=kind.__name__)
        return True
