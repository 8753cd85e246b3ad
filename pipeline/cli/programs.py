"""The programs of the stack, as command lines: what `run` starts, and what `up` keeps beside it."""

import hashlib
import sys
from typing import Final

from pipeline.settings import Settings
from pipeline.stack import Program

CELERY: Final = (sys.executable, "-P", "-m", "celery", "--quiet", "--app", "tasks.app")
CONTROL_QUEUES: Final = (
    "callfold.admit,callfold.reduce,callfold.freeze,callfold.notify,callfold.deliver,callfold.nightly"
)
#: How long a worker may finish what it has after SIGTERM, in seconds; what is cut short is done again by another.
GRACE: Final = 30.0
#: Celery warns that root is dangerous with pickle; we accept JSON alone, and a container often runs as root.
ENV: Final = {"PYTHONWARNINGS": "ignore::UserWarning:celery.platforms"}


def workers(settings: Settings) -> tuple[Program, ...]:
    """Threads for the documents, one slot for suspects, two processes for the steps between; each also reconciles."""
    return (
        _worker(
            settings,
            "process",
            ("--pool", "threads", "--concurrency", str(settings.process_slots), "--queues", "callfold.process"),
        ),
        # A process of its own: what kills it kills no neighbour.
        _worker(settings, "alone", ("--pool", "prefork", "--concurrency", "1", "--queues", "callfold.alone")),
        # Two: a long reduce or a nightly folder must not hold up every admission.
        _worker(settings, "control", ("--pool", "prefork", "--concurrency", "2", "--queues", CONTROL_QUEUES)),
    )


def companions() -> tuple[Program, ...]:
    """For daily use: the calendar, and a reconciler that outlives any worker."""
    return (
        Program("beat", (*CELERY, "beat"), env=ENV),
        Program("reconcile", (sys.executable, "-P", "-m", "tasks.bootsteps"), env=ENV),
    )


def _worker(settings: Settings, name: str, pool: tuple[str, ...]) -> Program:
    hostname = f"{name}-{_mark(settings)}@%h"
    argv = (*CELERY, "worker", *pool, "--hostname", hostname, "--without-gossip", "--without-mingle")
    return Program(name, argv, env=ENV, grace=GRACE)


def _mark(settings: Settings) -> str:
    """Tells the workers of two data folders apart on one broker."""
    return hashlib.sha256(str(settings.data_dir.resolve()).encode()).hexdigest()[:8]
