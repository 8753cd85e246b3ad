"""Storing a successor job: each row of its predecessor is carried over as it stands, or is to be worked on again.

One statement under the predecessor's lock. Neither words nor results are copied: words belong to the root job, and a
carried row names the attempt that ended it, whichever job that was in.
"""

from dataclasses import dataclass
from uuid import UUID

from pipeline.domain.results import JobState
from pipeline.errors import InvalidRequest, NotFound
from pipeline.ledger import budgets, checkpoints, jobs
from pipeline.ledger.connection import Transaction
from pipeline.ledger.submissions import KeyHolder, take_key


@dataclass(frozen=True, slots=True)
class Predecessor:
    """A job that may be amended, under its lock. `options` is the JSON text as given, `concurrency` what it is now."""

    job_id: UUID
    workspace: str
    root_job_id: UUID
    export_version: int
    state: JobState
    open_items: int
    frozen: bool
    options: str
    concurrency: int


_LOCK = """
SELECT job_id, workspace, root_job_id, export_version, state, pending + running, frozen_at IS NOT NULL, options,
       concurrency
  FROM jobs WHERE job_id = %s FOR NO KEY UPDATE
"""


def lock(tx: Transaction, job_id: UUID) -> Predecessor:
    """Lock the job row, so that two successors of it come one after the other. Raises NotFound."""
    row = tx.exec_driver_sql(_LOCK, (job_id,)).one_or_none()
    if row is None:
        raise NotFound("job", str(job_id))
    return Predecessor(*row)


def newest(tx: Transaction, root_job_id: UUID) -> tuple[UUID, bool]:
    """The job with the root's newest version, and whether that is frozen."""
    row = tx.exec_driver_sql(
        "SELECT job_id, frozen_at IS NOT NULL FROM jobs WHERE root_job_id = %s ORDER BY export_version DESC LIMIT 1",
        (root_job_id,),
    ).one()
    return row[0], row[1]


@dataclass(frozen=True, slots=True)
class Successor:
    """What a successor is stored with; the rest is its predecessor's. `codes` None: every row without a result."""

    job_id: UUID
    workspace: str
    predecessor: UUID
    idempotency_key: str
    digest: str
    options: str
    concurrency: int
    deadline_seconds: int
    codes: list[str] | None
    budget_tokens: int | None
    budget_usd: float | None


# Worked on again: what has words and did not succeed. It keeps its place on the one-slot queue, for it may have killed
# its process; its budgets are fresh. It waits for its next attempt as any retry does, due at once and in input order: a
# first release would be looked for, also when none is left, among all the carried rows behind it (150 ms for 100,000).
_ADMIT = """
WITH before AS (
    SELECT * FROM jobs WHERE job_id = %(predecessor)s
), source AS MATERIALIZED (
    SELECT items.*,
           items.state <> 'succeeded' AND (%(codes)s::text[] IS NULL OR items.error_code = ANY(%(codes)s::text[]))
           AND EXISTS (SELECT 1 FROM texts WHERE texts.job_id = before.root_job_id
                          AND texts.position = items.position) AS again
      FROM items JOIN before USING (job_id)
), tally AS (
    SELECT count(*) AS total, count(*) FILTER (WHERE again) AS again,
           count(*) FILTER (WHERE state = 'succeeded') AS succeeded,
           count(*) FILTER (WHERE state = 'failed' AND NOT again) AS failed,
           count(*) FILTER (WHERE state = 'skipped' AND NOT again) AS skipped
      FROM source
), job AS (
    INSERT INTO jobs (job_id, workspace, idempotency_key, digest, options, profile, require, concurrency, max_attempts,
                      language, state, version, created_at, expires_at, total, pending, running, succeeded, failed,
                      skipped, next_position, root_job_id, export_version, predecessor, deliver_to)
    SELECT %(job_id)s, workspace, %(idempotency_key)s, %(digest)s, %(options)s, profile, require, %(concurrency)s,
           max_attempts, language, 'accepted', 1, now, now + %(deadline_seconds)s * interval '1 second', tally.total,
           tally.again, 0, tally.succeeded, tally.failed, tally.skipped, tally.total, root_job_id, export_version + 1,
           before.job_id, deliver_to
      FROM before, tally, clock_timestamp() AS now
     WHERE tally.again > 0
    RETURNING job_id, created_at, total
), item AS (
    INSERT INTO items (job_id, position, document_id, account_id, consent_scope, retention_class, occurred_at,
                       opportunity_id, contact_id, owner_hint, source_sha256, warnings, alone, carried, state,
                       available_at, progress, attempt_id, attempt_count, charged, losses_alone, error_code,
                       error_detail, finished_at)
    SELECT job.job_id, position, document_id, account_id, consent_scope, retention_class, occurred_at, opportunity_id,
           contact_id, owner_hint, source_sha256, warnings, alone, NOT again,
           CASE WHEN again THEN 'pending' ELSE state END,
           CASE WHEN again THEN created_at - (job.total - position) * interval '1 microsecond' END,
           CASE WHEN again THEN 0 ELSE progress END,
           CASE WHEN NOT again THEN attempt_id END,
           CASE WHEN again THEN 0 ELSE attempt_count END,
           CASE WHEN again THEN 0 ELSE charged END,
           CASE WHEN again THEN 0 ELSE losses_alone END,
           CASE WHEN NOT again THEN error_code END,
           CASE WHEN NOT again THEN error_detail END,
           CASE WHEN NOT again THEN finished_at END
      FROM source, job
)
SELECT created_at FROM job
"""


def admit(tx: Transaction, successor: Successor) -> KeyHolder | None:
    """Bind the key and store job and items; returns the other job where the key is taken already.

    The caller holds the predecessor's lock. Raises InvalidRequest where no row is to be worked on again.
    """
    holder = take_key(tx, successor.workspace, successor.idempotency_key, successor.digest, successor.job_id)
    if holder is not None:
        return holder
    parameters = {name: getattr(successor, name) for name in Successor.__slots__}
    created_at = tx.exec_driver_sql(_ADMIT, parameters).scalar_one_or_none()
    if created_at is None:
        which = "without a result" if successor.codes is None else f"that ended with {' or '.join(successor.codes)}"
        raise InvalidRequest(f"job {successor.predecessor} has no document {which} whose words are known")
    budgets.give(tx, successor.job_id, successor.budget_tokens, successor.budget_usd)
    checkpoints.hand_on(tx, successor.predecessor, successor.job_id)
    jobs.accept(tx, successor.job_id, created_at)
    return None
