"""Nightly: a schedule's folder is submitted once per business date, whoever starts it and however often."""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

import structlog

from pipeline.domain.identity import WORKSPACE
from pipeline.errors import IdempotencyConflict
from pipeline.ledger import submissions
from pipeline.ledger.connection import Ledger
from pipeline.settings import Schedule, Settings
from pipeline.stages.commands import Admit, Command
from pipeline.stages.submit import submit
from pipeline.transcripts.batch import read_paths

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Nightly:
    """The job of a schedule's business date; `created` is false where it was there before."""

    job_id: UUID
    key: str
    created: bool
    commands: tuple[Command, ...] = ()


#: How long after its time yesterday's run may still begin: past midnight a late beat still means the night before.
LATE = timedelta(hours=6)


def due_date(schedule: Schedule, now: datetime) -> date | None:
    """The business date whose run is due at `now`: the schedule's local date, from its time of day on."""
    zone = ZoneInfo(schedule.time_zone)
    today = now.astimezone(zone).date()
    for day, until in ((today, timedelta(days=1)), (today - timedelta(days=1), LATE)):
        begins = datetime.combine(day, time.fromisoformat(schedule.at), zone)
        if begins <= now < begins + until:
            return day
    return None


def key_of(name: str, business_date: date) -> str:
    """The idempotency key of a run: schedule and business date."""
    return f"nightly-{name}-{business_date.isoformat()}"


def nightly(ledger: Ledger, settings: Settings, name: str, business_date: date) -> Nightly:
    """Submit the schedule's folder. The first start of a date wins; later ones get its job, whatever the folder holds.

    Raises NotFound for the schedule, InvalidRequest for what is in the folder.
    """
    schedule = settings.schedule(name)
    key = key_of(name, business_date)
    before = _holder(ledger, key)
    if before is None:
        documents = read_paths([schedule.source], schedule.account, f"{name}/{business_date.isoformat()}/")
        try:
            submitted = submit(ledger, settings, documents, schedule.options, key, schedule.deliver_to)
        except IdempotencyConflict as raced:
            before = UUID(raced.job_id)
        else:
            log.info("nightly.submitted", job_id=str(submitted.job_id), schedule=name, created=submitted.created)
            commands = (Admit(submitted.job_id),) if submitted.created else ()
            return Nightly(submitted.job_id, key, submitted.created, commands)
    return Nightly(before, key, created=False)


def _holder(ledger: Ledger, key: str) -> UUID | None:
    with ledger.statement() as tx:
        holder = submissions.key_holder(tx, WORKSPACE, key)
    return holder.job_id if holder else None
