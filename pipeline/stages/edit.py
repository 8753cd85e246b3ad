"""Edit: lanes and deadline of a job that is not finished may be changed by hand, outside its digest.

Each edit is an event of its own that says what was and what is. New lanes are opened by reconcile, and lanes above the
new number end with the document that they hold.
"""

import json
from datetime import timedelta
from uuid import UUID

import structlog

from pipeline.domain import options
from pipeline.errors import InvalidRequest
from pipeline.ledger import jobs
from pipeline.ledger.connection import Ledger

log = structlog.get_logger(__name__)


def edit(ledger: Ledger, job_id: UUID, concurrency: int | None = None, deadline_seconds: int | None = None) -> None:
    """Change what is given; the deadline counts from the job's creation, as the option does.

    Raises InvalidRequest for values that no job may have and for a deadline that has passed, NotFound, and StaleArrow
    once the job has ended.
    """
    given = {"concurrency": concurrency, "deadline_seconds": deadline_seconds}
    asked = options.parse({name: value for name, value in given.items() if value is not None})
    if not asked.model_fields_set:
        raise InvalidRequest("nothing to change: give a concurrency or a deadline")
    with ledger.transaction() as tx:
        job = jobs.lock(tx, job_id)
        lanes = job.concurrency if concurrency is None else concurrency
        expires_at = job.expires_at
        if deadline_seconds is not None:
            expires_at = job.created_at + timedelta(seconds=deadline_seconds)
            if expires_at <= job.now:
                age = (job.now - job.created_at).total_seconds()
                raise InvalidRequest(f"the job is {age:.0f} s old: give a later deadline, or cancel it")
        detail = {
            "concurrency": [job.concurrency, lanes],
            "expires_at": [job.expires_at.isoformat(), expires_at.isoformat()],
        }
        jobs.edit(tx, job, lanes, expires_at, json.dumps(detail))
    log.info("edit.edited", job_id=str(job_id), **detail)
