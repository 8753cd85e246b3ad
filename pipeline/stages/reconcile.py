"""Reconcile: liveness never depends on the broker, the chord, beat or one worker.

About once a second one process looks at the ledger for what should have happened and did not: lost leases, lost
messages, lost chords, due retries and probes, deadlines. It returns commands; `tasks/` publishes them. Every step is
bounded and idempotent, so two of them running at once only do less each. All times are multiples of the lease.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, TypeVar
from uuid import UUID, uuid4

import structlog

from pipeline.domain import gate, lifecycle
from pipeline.domain.lifecycle import Fail, Lose
from pipeline.errors import CallfoldError, StaleArrow
from pipeline.ledger import checkpoints, gates, items, jobs, leases, notifications, releases, submissions, sweeps
from pipeline.ledger import reconcile as due
from pipeline.ledger.connection import Ledger
from pipeline.ledger.items import Outcome
from pipeline.ledger.leases import Lost
from pipeline.stages.cancel import drain_some
from pipeline.stages.commands import Admit, Command, Deliver, Freeze, Notify, Process, Reduce, after
from pipeline.stages.verdicts import failed, item_of

log = structlog.get_logger(__name__)

#: How long texts wait for their job, and a checkpoint for the next attempt.
ORPHAN_SECONDS = 24 * 3600.0


def reconcile(ledger: Ledger, lease: float, worker: str) -> list[Command]:
    """One tick: what is overdue, as commands. One job's trouble is logged and does not stop the others."""
    commands: list[Command] = []
    _note_tick(ledger, lease, worker)
    for step in (
        _free_locks,
        _expire,
        _drain,
        _lose,
        _hops,
        _republish,
        _probe,
        _open_lanes,
        _notify,
        _sweep_orphans,
        _sweep_checkpoints,
    ):
        commands += _guarded(step, ledger, lease)
    return commands


_HOPS: Final[dict[due.Hop, type[Admit | Reduce | Freeze | Deliver]]] = {
    "admit": Admit,
    "reduce": Reduce,
    "freeze": Freeze,
    "deliver": Deliver,
}


@dataclass(frozen=True, slots=True)
class _Probe:
    """One document of this job is to try the profile's provider; the next one after so many seconds."""

    profile: str
    job_id: UUID
    next_after: float


Subject = TypeVar("Subject", float, UUID, Lost, _Probe)


def _guarded(step: Callable[[Ledger, Subject], Iterator[Command]], ledger: Ledger, subject: Subject) -> list[Command]:
    found: list[Command] = []
    try:
        found.extend(step(ledger, subject))
    except StaleArrow as overtaken:
        log.debug("reconcile.overtaken", step=step.__name__, arrow=overtaken.arrow)
    except CallfoldError as error:
        log.error("reconcile.failed", step=step.__name__, subject=str(subject), error=error.code)
    return found


def _note_tick(ledger: Ledger, lease: float, worker: str) -> None:
    """Stamp the tick. After a gap nobody could renew or reconcile: an expired lease means nothing, so grant one."""
    with ledger.statement() as tx:
        gap = due.record_tick(tx, worker)
        if gap > lease / 2:
            log.warning("reconcile.gap", seconds=round(gap, 1), granted=leases.grant(tx, lease))


def _free_locks(ledger: Ledger, lease: float) -> Iterator[Command]:
    with ledger.statement() as tx:
        freed = due.free_locks(tx, lease)
    if freed:
        log.warning("reconcile.freed_locks", sessions=freed)
    yield from ()


def _expire(ledger: Ledger, _lease: float) -> Iterator[Command]:
    with ledger.statement() as tx:
        found = due.expired(tx)
    for job_id in found:
        yield from _guarded(_expire_one, ledger, job_id)


def _expire_one(ledger: Ledger, job_id: UUID) -> Iterator[Command]:
    with ledger.transaction() as tx:
        job = jobs.lock(tx, job_id)
        swept = sweeps.expired(tx, job)
    log.warning("reconcile.expired", job_id=str(job_id), documents=swept)
    yield from after(job, swept)


def _drain(ledger: Ledger, _lease: float) -> Iterator[Command]:
    with ledger.statement() as tx:
        found = due.undrained(tx)
    for job_id in found:
        yield from _guarded(_drain_one, ledger, job_id)


def _drain_one(ledger: Ledger, job_id: UUID) -> Iterator[Command]:
    _, commands = drain_some(ledger, job_id)
    yield from commands


def _lose(ledger: Ledger, _lease: float) -> Iterator[Command]:
    with ledger.statement() as tx:
        found = leases.lost(tx)
    for held in found:
        yield from _guarded(_lose_one, ledger, held)


def _lose_one(ledger: Ledger, held: Lost) -> Iterator[Command]:
    event, lost = _overdue(ledger, held) if held.past_deadline else _silent(held)
    with ledger.transaction() as tx:
        job = jobs.lock(tx, held.job_id)
        transition = lifecycle.apply(item_of(held, job), event, job.now)
        items.settle(tx, job, held, transition.item, transition.reason, lost)
    log.warning(
        "reconcile.lost",
        job_id=str(held.job_id),
        position=held.position,
        attempt=held.number,
        code=lost.error_code,
    )
    if transition.item.state in lifecycle.TERMINAL:
        yield from after(job, 1)


def _silent(held: Lost) -> tuple[Lose, Outcome]:
    """A lease that nobody renewed: suspicion only, the attempt's outcome still counts until a later start."""
    detail = "the worker stopped renewing the lease of its attempt"
    return Lose(held.number), Outcome("lost", "worker_lost", detail)


def _overdue(ledger: Ledger, held: Lost) -> tuple[Fail, Outcome]:
    """An attempt past its own wall clock, which nobody can end in its thread: it has failed, whatever it says later."""
    event, _ = failed(ledger, held, "provider_timeout")
    detail = "the attempt took longer than it may: split the call, or raise CALLFOLD_ATTEMPT_SECONDS"
    return event, Outcome("lost", "provider_timeout", detail)


def _hops(ledger: Ledger, lease: float) -> Iterator[Command]:
    for hop, command in _HOPS.items():
        with ledger.statement() as tx:
            overdue = due.nudge(tx, hop, lease)
        for job_id in overdue:
            log.info("reconcile.nudged", hop=hop, job_id=str(job_id))
            yield command(job_id)


def _republish(ledger: Ledger, lease: float) -> Iterator[Command]:
    with ledger.statement() as tx:
        overdue = due.unstarted(tx, lease)
    for released in overdue:
        log.info("reconcile.republished", job_id=str(released.job_id), position=released.position)
        yield Process(released)


def _probe(ledger: Ledger, lease: float) -> Iterator[Command]:
    with ledger.statement() as tx:
        found = due.probes(tx)
    for one in found:
        next_after = gate.until_probe(one.probes + 1, lease)
        yield from _guarded(_probe_one, ledger, _Probe(one.profile, one.job_id, next_after))


def _probe_one(ledger: Ledger, probe: _Probe) -> Iterator[Command]:
    """If the document is lost or its job cancelled, the next probe brings another."""
    dispatch = uuid4()
    with ledger.transaction() as tx:
        job = jobs.lock(tx, probe.job_id)
        gates.probe(tx, probe.profile, dispatch, probe.next_after)
        released = releases.release(tx, job, releases.free_lanes(tx, job, 1), [dispatch])
        if not released:
            raise StaleArrow("probe", "the job has nothing to release any more")
        releases.announce(tx, job, released)
    log.info("reconcile.probes", profile=probe.profile, job_id=str(probe.job_id), position=released[0].position)
    for one in released:
        yield Process(one)


def _open_lanes(ledger: Ledger, _lease: float) -> Iterator[Command]:
    with ledger.statement() as tx:
        found = due.openable(tx)
    for job_id in found:
        yield from _guarded(_open_one, ledger, job_id)


def _open_one(ledger: Ledger, job_id: UUID) -> Iterator[Command]:
    with ledger.transaction() as tx:
        job = jobs.lock(tx, job_id)
        wanted = min(job.concurrency - job.running, job.pending)
        if job.state != "running" or wanted <= 0:
            return
        lanes = releases.free_lanes(tx, job, wanted)
        released = releases.release(tx, job, lanes, [uuid4() for _ in lanes])
        releases.announce(tx, job, released)
    for one in released:
        yield Process(one)


def _notify(ledger: Ledger, lease: float) -> Iterator[Command]:
    with ledger.statement() as tx:
        found = notifications.due(tx, lease)
    for job_id, tries in found:
        yield Notify(job_id, tries)


def _sweep_orphans(ledger: Ledger, _lease: float) -> Iterator[Command]:
    with ledger.statement() as tx:
        orphans = submissions.orphan_uploads(tx, ORPHAN_SECONDS)
    for job_id in orphans:
        yield from _guarded(_sweep_one, ledger, job_id)


def _sweep_one(ledger: Ledger, job_id: UUID) -> Iterator[Command]:
    submissions.discard_texts(ledger, job_id)
    log.info("reconcile.swept_texts", job_id=str(job_id))
    yield from ()


def _sweep_checkpoints(ledger: Ledger, _lease: float) -> Iterator[Command]:
    with ledger.statement() as tx:
        swept = checkpoints.sweep(tx, ORPHAN_SECONDS)
    if swept:
        log.info("reconcile.swept_checkpoints", checkpoints=swept)
    yield from ()
