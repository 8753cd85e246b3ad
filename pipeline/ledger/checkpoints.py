"""Checkpoints: what an attempt has written so far, so that the next one need not pay for it again.

    running --keep (progress)--> running

A checkpoint is written by the attempt that holds its item and by no other, and moves the item's progress with it. It
is gone once the item is final, unless the budget ended it: then a successor goes on with it. And it is gone a day after
its last change.
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
    """A checkpoint to be kept by the attempt that holds its item.

    `progress` 0 to 99 percent, `cursor` the attempt's own number of this checkpoint: one that comes after a later one
    is stale.
    """

    job_id: UUID
    position: int
    attempt_id: UUID
    progress: int
    cursor: int
    checkpoint: Checkpoint


# As `lifecycle.apply` with Progress. An attempt whose lease was lost works on, and what it writes is of use to the next
# one; it moves no progress, and its draft never takes the place of a whole text. The item's row is locked before the
# checkpoint's, here and wherever an item is made final, and nothing else is waited for while it is held.
_KEEP = """
WITH given AS (
    SELECT * FROM unnest(%s::uuid[], %s::int[], %s::uuid[], %s::int[], %s::int[], %s::text[], %s::int[], %s::text[],
                         %s::text[], %s::text[], %s::text[], %s::bigint[], %s::text[], %s::bool[])
               AS row (job_id, position, attempt_id, progress, cursor, step, chunk, input_sha256, prompt_version,
                       model, parameters, seed, text, done)
), held AS MATERIALIZED (
    SELECT given.*, jobs.workspace, items.suspect
      FROM given JOIN items USING (job_id, position, attempt_id) JOIN jobs USING (job_id)
     WHERE jobs.expires_at > clock_timestamp()
       AND (items.suspect
            OR items.state = 'running' AND items.progress <= given.progress AND items.cursor <= given.cursor
               AND (items.progress, items.cursor) <> (given.progress, given.cursor))
       FOR UPDATE OF items {wait}
), moved AS (
    UPDATE items SET version = items.version + 1, progress = held.progress, cursor = held.cursor
      FROM held WHERE items.job_id = held.job_id AND items.position = held.position AND NOT held.suspect
)
INSERT INTO checkpoints (job_id, position, step, chunk, workspace, input_sha256, prompt_version, model, parameters,
                         seed, text, done)
SELECT job_id, position, step, chunk, workspace, input_sha256, prompt_version, model, parameters, seed, text, done
  FROM held
ON CONFLICT (job_id, position, step, chunk) DO UPDATE
   SET input_sha256 = excluded.input_sha256, prompt_version = excluded.prompt_version, model = excluded.model,
       parameters = excluded.parameters, seed = excluded.seed, text = excluded.text, done = excluded.done,
       updated_at = clock_timestamp()
 WHERE NOT checkpoints.done OR excluded.done
    OR EXISTS (SELECT 1 FROM held
                WHERE (held.job_id, held.position) = (excluded.job_id, excluded.position) AND NOT held.suspect)
RETURNING job_id, position
"""
_KEEP_ONE, _KEEP_MANY = _KEEP.format(wait=""), _KEEP.format(wait="SKIP LOCKED")


def keeping(row: Kept) -> Statement:
    """The statement that keeps one checkpoint, and waits for whoever has its item locked.

    Without a row the item is no longer this attempt's, or knows as much already.
    """
    return Statement(_KEEP_ONE, _columns([row]))


def keep(tx: Transaction, rows: Sequence[Kept]) -> set[tuple[UUID, int]]:
    """Keep one checkpoint of each of these items, but of those that are locked just now; returns whose was kept."""
    [kept] = together(tx, Statement(_KEEP_MANY, _columns(rows)))
    return {(job_id, position) for job_id, position in kept}


def _columns(rows: Sequence[Kept]) -> list[list[object]]:
    return [list(column) for column in zip(*((*row[:5], *row.checkpoint) for row in rows), strict=True)]


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


def hand_on(tx: Transaction, predecessor: UUID, successor: UUID) -> None:
    """Give a finished job's checkpoints to its successor, of carried rows too: the next retry may work on those."""
    tx.exec_driver_sql("UPDATE checkpoints SET job_id = %s WHERE job_id = %s", (successor, predecessor))


# It waits for nobody: whoever has a checkpoint locked makes it new, or deletes it.
_SWEEP = """
DELETE FROM checkpoints WHERE (job_id, position, step, chunk) IN (
    SELECT job_id, position, step, chunk FROM checkpoints
     WHERE updated_at < clock_timestamp() - %s * interval '1 second'
     LIMIT 1000 FOR UPDATE SKIP LOCKED)
"""


def sweep(tx: Transaction, older_than_seconds: float) -> int:
    """Forget checkpoints that nobody has changed for so long. Returns how many."""
    return tx.exec_driver_sql(_SWEEP, (older_than_seconds,)).rowcount
