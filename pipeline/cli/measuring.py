"""One step of `callfold tune`: a job of its own through real workers, watched until it has told what it can."""

import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, NamedTuple
from uuid import UUID

import psutil

from pipeline.cli import dispatch, waiting
from pipeline.domain.documents import IncomingDocument
from pipeline.domain.tuning import REFUSALS, Measured, rises
from pipeline.errors import CallfoldError, StaleArrow
from pipeline.ledger import budgets, measures
from pipeline.ledger.budgets import Budget
from pipeline.ledger.connection import Ledger
from pipeline.ledger.measures import JobMeasures
from pipeline.settings import Settings
from pipeline.stack import Urls, status
from pipeline.stages.cancel import cancel
from pipeline.stages.commands import Admit
from pipeline.stages.submit import submit

_LOOK_SECONDS: Final = 0.2


class Plant(NamedTuple):
    """Where the work is done."""

    settings: Settings
    urls: Urls
    ledger: Ledger


class Step(NamedTuple):
    """What a step showed, and what its job has taken of its budget; None: it had none."""

    measured: Measured
    taken: Budget | None


def measure(
    plant: Plant, documents: Sequence[IncomingDocument], options: dict[str, str | int | float], key: str
) -> Step:
    """Let workers do the documents as a job, and say how that went.

    A provider's refusal ends the step: it has told what it can, and each further one makes the pause longer for all. So
    does whatever else ends the wait: nobody would look at what the job goes on paying for.
    """
    job = submit(plant.ledger, plant.settings, documents, options, key)
    try:
        dispatch.send(plant.urls, [Admit(job.job_id)])
        measured = _watched(plant, job.job_id)
        with plant.ledger.statement() as tx:
            return Step(measured, budgets.of_job(tx, job.job_id))
    except BaseException:
        with suppress(CallfoldError):
            _stop(plant, job.job_id)
        raise


def _watched(plant: Plant, job_id: UUID) -> Measured:
    """Look at the job until all its documents are final."""
    watchdog = waiting.Watchdog(plant.settings)
    ages, memory, stopped = list[float](), list[int](), False
    while True:
        glance = waiting.look(plant.ledger, job_id, plant.settings.lease_seconds)
        if not glance.job.counts.pending + glance.job.counts.running:
            return _measured(plant.ledger, job_id, glance.job.concurrency, ages, memory)
        watchdog.check(glance)
        ages.append(_oldest(plant.ledger, job_id))
        memory.extend(_memory(plant.settings))
        if not stopped and REFUSALS & _measures(plant.ledger, job_id).codes.keys():
            _stop(plant, job_id)
            stopped = True
        time.sleep(_LOOK_SECONDS)


def _stop(plant: Plant, job_id: UUID) -> None:
    with suppress(StaleArrow):  # it has just completed
        dispatch.send(plant.urls, cancel(plant.ledger, job_id))


def _measured(ledger: Ledger, job_id: UUID, concurrency: int, ages: list[float], memory: list[int]) -> Measured:
    found = _measures(ledger, job_id)
    return Measured(
        concurrency=concurrency,
        documents=found.documents,
        seconds=found.seconds,
        oldest_age=max(ages, default=0.0),
        is_rising=rises(ages),
        codes=found.codes,
        median_latency=found.median_latency,
        p95_latency=found.p95_latency,
        memory=max(memory, default=None),
    )


def _measures(ledger: Ledger, job_id: UUID) -> JobMeasures:
    with ledger.statement() as tx:
        return measures.of_job(tx, job_id)


def _oldest(ledger: Ledger, job_id: UUID) -> float:
    with ledger.statement() as tx:
        return measures.oldest_runnable(tx, job_id)


def _memory(settings: Settings) -> list[int]:
    """What the worker for documents holds, in bytes; nothing where it runs elsewhere, or is starting again."""
    try:
        return [psutil.Process(part.pid).memory_info().rss for part in status(settings) if part.name == "process"]
    except psutil.NoSuchProcess:
        return []
