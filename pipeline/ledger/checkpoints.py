"""Checkpoints: what an attempt has written so far, so that the next one need not pay for it again.

A checkpoint is written by the attempt that holds its item and by no other, and moves the item's progress with it. It
is gone once the item is final, and a day after its last change.
"""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from pipeline.ledger.connection import Statement, Transaction, together


class Checkpoint(NamedTuple):
    """One text of an item: of which step and chunk, made of what and by what, and whether it is whole (`done`)."""

    step: str
    chunk: int
    input_sha256: str
    prompt_version: str
    model: str
    parameters: str
    seed: int | None
    text: str
    done: bool


class Kept(NamedTuple):
    """A checkpoint to be kept by the attempt that holds its item; `progress` 0 to 99 percent."""

    job_id: UUID
    position: int
    attempt_id: UUID
    progress: int
    checkpoint: Checkpoint


# Items that others have locked are skipped, as by the leases' renewal: this takes many of them and no job's lock.
_KEEP = """
WITH given AS (
    SELECT * FROM unnest(%s::uuid[], %s::int[], %s::uuid[], %s::int[], %s::text[], %s::int[], %s::text[], %s::text[],
                         %s::text[], %s::text[], %s::bigint[], %s::text[], %s::bool[])
               AS row (job_id, position, attempt_id, progress, step, chunk, input_sha256, prompt_version, model,
                       parameters, seed, text, done)
), held AS (
    UPDATE items
       SET version = items.version + 1, progress = greatest(items.progress, given.progress), cursor = items.cursor + 1
      FROM given JOIN jobs USING (job_id)
     WHERE items.job_id = given.job_id AND items.position = given.position
       AND jobs.expires_at > clock_timestamp()
       AND (items.job_id, items.position) IN (
            SELECT items.job_id, items.position FROM items JOIN given USING (job_id, position, attempt_id)
             WHERE items.state = 'running' FOR UPDATE OF items SKIP LOCKED)
    RETURNING items.job_id, items.position, jobs.workspace
)
INSERT INTO checkpoints (job_id, position, step, chunk, workspace, input_sha256, prompt_version, model, parameters,
                         seed, text, done)
SELECT job_id, position, step, chunk, workspace, input_sha256, prompt_version, model, parameters, seed, text, done
  FROM given JOIN held USING (job_id, position)
ON CONFLICT (job_id, position, step, chunk) DO UPDATE
   SET input_sha256 = excluded.input_sha256, prompt_version = excluded.prompt_version, model = excluded.model,
       parameters = excluded.parameters, seed = excluded.seed, text = excluded.text, done = excluded.done,
       updated_at = clock_timestamp()
RETURNING job_id, position
"""


def keeping(rows: Sequence[Kept]) -> Statement:
    """The statement of `keep`."""
    flat = [(*row[:4], *row.checkpoint) for row in rows]
    return Statement(_KEEP, [list(column) for column in zip(*flat, strict=True)])


def keep(tx: Transaction, rows: Sequence[Kept]) -> set[tuple[UUID, int]]:
    """Keep one checkpoint of each of these items; returns the items whose attempt still holds them.

    What is missing there was locked by others just now, or is in other hands.
    """
    [kept] = together(tx, keeping(rows))
    return {(job_id, position) for job_id, position in kept}


def of_item(tx: Transaction, job_id: UUID, position: int) -> list[Checkpoint]:
    """All that is kept of an item."""
    rows = tx.exec_driver_sql(
        "SELECT step, chunk, input_sha256, prompt_version, model, parameters, seed, text, done FROM checkpoints "
        "WHERE job_id = %s AND position = %s",
        (job_id, position),
    )
    return [Checkpoint(*row) for row in rows]


def forgetting(job_id: UUID, position: int) -> Statement:
    """The statement that forgets an item's checkpoints, in the transaction that makes it final."""
    return Statement("DELETE FROM checkpoints WHERE job_id = %s AND position = %s", (job_id, position))


_SWEEP = """
DELETE FROM checkpoints WHERE (job_id, position, step, chunk) IN (
    SELECT job_id, position, step, chunk FROM checkpoints JOIN items USING (job_id, position)
     WHERE items.state IN ('succeeded', 'failed', 'skipped')
        OR checkpoints.updated_at < clock_timestamp() - %s * interval '1 second'
     LIMIT 1000)
"""


def sweep(tx: Transaction, older_than_seconds: float) -> int:
    """Forget checkpoints of items that others made final, and those that are too old. Returns how many."""
    return tx.exec_driver_sql(_SWEEP, (older_than_seconds,)).rowcount
