"""Jobs built row by row, in any state the tables allow, and what must hold of every job at every moment.

`door` is a ledger or an open transaction on it.
"""

import json
from contextlib import contextmanager
from datetime import timedelta
from time import monotonic
from uuid import UUID, uuid4

from pipeline.domain.documents import DocumentFields, IncomingDocument, Transcript, Turn
from pipeline.domain.lifecycle import Item
from pipeline.ledger.checkpoints import Checkpoint, Kept
from pipeline.ledger.connection import Ledger
from pipeline.stages.submit import submit

SHA = "0" * 64
TURNS = json.dumps([{"text": "We will send the offer on Monday."}])

#: Every kind of item row: its own columns, and the outcome of its last attempt (absent: never tried).
KINDS = {
    "fresh": {"state": "pending"},
    "waiting": {"state": "pending", "available_at": 0, "attempt": "requeued", "charged": 1},
    "suspect": {"state": "pending", "available_at": 0, "attempt": "lost", "suspect": True, "alone": True},
    "released": {"state": "released"},
    "suspect, released again": {"state": "released", "attempt": "lost", "suspect": True, "alone": True},
    "running": {"state": "running", "attempt": None},
    "running alone": {"state": "running", "attempt": None, "alone": True},
    "succeeded": {"state": "succeeded", "attempt": "succeeded", "progress": 100},
    "born failed": {"state": "failed", "error_code": "empty_input"},
    "failed": {"state": "failed", "attempt": "failed", "charged": 1, "error_code": "not_a_call"},
    "skipped": {"state": "skipped", "error_code": "cancelled"},
}
OPEN_KINDS = tuple(name for name, kind in KINDS.items() if kind["state"] in {"pending", "released", "running"})

_COUNTED_AS = {"released": "running"}


def new_job(door, kinds, *, state="running", expires_in=3600.0, lease=60.0, **columns):
    """A job whose items are of these kinds, at positions 0, 1, …; negative times lie in the past."""
    job_id = uuid4()
    states = [_COUNTED_AS.get(KINDS[kind]["state"], KINDS[kind]["state"]) for kind in kinds]
    counts = {name: states.count(name) for name in ("pending", "running", "succeeded", "failed", "skipped")}
    with opened(door) as tx:
        now = tx.exec_driver_sql("SELECT clock_timestamp()").scalar_one()
        row = {
            "job_id": job_id,
            "workspace": "default",
            "idempotency_key": str(job_id),
            "digest": SHA,
            "options": "{}",
            "profile": "extractive",
            "require": "any",
            "concurrency": 8,
            "max_attempts": 3,
            "state": state,
            "version": 1,
            "created_at": now - timedelta(days=1),
            "expires_at": now + timedelta(seconds=expires_in),
            "ended_at": now if state in {"completed", "cancelled"} else None,
            "reduce_id": uuid4() if state == "completed" else None,
            "merged_rows": 0 if state == "completed" else None,
            "total": len(kinds),
            "root_job_id": job_id,
            "export_version": 1,
        }
        insert(tx, "jobs", row | counts | columns)
        insert(tx, "events", {"job_id": job_id, "version": 1, "kind": "accepted", "at": now})
        told = {"job_id": job_id, "version": 1, "state": "accepted", "at": now}
        insert(tx, "notifications", told | {"available_at": now, "delivered_at": now})
        for position, kind in enumerate(kinds):
            _add_item(tx, job_id, position, KINDS[kind], now, lease)
    return job_id


def _add_item(tx, job_id, position, kind, now, lease):
    held = kind["state"] in {"released", "running"}
    running = kind["state"] == "running"
    attempt_id = uuid4() if "attempt" in kind else None
    final = kind["state"] in {"succeeded", "failed", "skipped"}
    row = {
        "job_id": job_id,
        "position": position,
        "document_id": f"doc-{position}",
        "account_id": "acme",
        "consent_scope": "default",
        "retention_class": "default",
        "source_sha256": SHA,
        "lane": position if held else None,
        "dispatch_id": uuid4() if held else None,
        "released_at": now if held else None,
        "published_at": now if held else None,
        "publishes": int(held),
        "attempt_id": attempt_id,
        "attempt_count": int(attempt_id is not None),
        "lease_until": now + timedelta(seconds=lease) if running else None,
        "attempt_until": now + timedelta(seconds=600) if running else None,
        "finished_at": now if final else None,
    }
    own = {name: value for name, value in kind.items() if name != "attempt"}
    if "available_at" in own:
        own["available_at"] = now - timedelta(seconds=own["available_at"])
    insert(tx, "items", row | own)
    insert(tx, "texts", {"job_id": job_id, "position": position, "turns": TURNS})
    if attempt_id is not None:
        _add_attempt(tx, row, kind["attempt"], now)


def _add_attempt(tx, item, outcome, now):
    result = {"summary": "said", "actions": "[]", "warnings": "[]", "result_hash": "hash-0"}
    row = {
        "attempt_id": item["attempt_id"],
        "job_id": item["job_id"],
        "position": item["position"],
        "number": 1,
        "dispatch_id": uuid4(),
        "worker": "w",
        "published_at": now,
        "started_at": now,
        "ended_at": None if outcome is None else now,
        "outcome": outcome,
    }
    insert(tx, "attempts", row | (result if outcome == "succeeded" else {}))


def checkpoint(held, progress, cursor, text="The first sentence.", **fields):
    """What this attempt has written of a summary, as it is to be kept."""
    made_of = {"input_sha256": SHA, "prompt_version": "1", "model": "m", "parameters": "{}", "seed": 7}
    written = Checkpoint(**{"step": "summary", "chunk": 0, **made_of, "text": text, "done": False, **fields})
    return Kept(held.job_id, held.position, held.attempt_id, progress, cursor, written)


def insert(tx, table, row):
    names = ", ".join(row)
    values = ", ".join(f"%({name})s" for name in row)
    tx.exec_driver_sql(f"INSERT INTO {table} ({names}) VALUES ({values})", row)


def update(door, table, changes, where, **parameters):
    """Move time, or break something, by hand."""
    with opened(door) as tx:
        return tx.exec_driver_sql(f"UPDATE {table} SET {changes} WHERE {where}", parameters).rowcount


def rows(door, statement, *parameters):
    with opened(door) as tx:
        return tx.exec_driver_sql(statement, parameters).all()


def value(door, statement, *parameters):
    return rows(door, statement, *parameters)[0][0]


@contextmanager
def opened(door):
    if isinstance(door, Ledger):
        with door.transaction() as tx:
            yield tx
    else:
        yield door


_ITEM = """
SELECT items.state, jobs.expires_at, jobs.state = 'cancelled' AS job_cancelled, items.version, attempt_count,
       items.charged, max_attempts, progress, cursor, available_at, items.error_code,
       CASE WHEN items.state = 'succeeded' THEN attempt_id::text END AS result_ref,
       CASE WHEN items.state = 'succeeded' THEN attempts.result_hash END AS result_hash, finished_at, suspect,
       items.alone, losses_alone
  FROM items JOIN jobs USING (job_id) LEFT JOIN attempts USING (attempt_id)
 WHERE items.job_id = %s ORDER BY items.position
"""


def all_items(door, job_id):
    """A job's items as the rules see them."""
    return [Item(*row) for row in rows(door, _ITEM, job_id)]


def item(door, job_id, position=0):
    """One of them."""
    return all_items(door, job_id)[position]


def wait_for_waiters(ledger, number):
    """Wait until so many others wait for a lock in this database."""
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    deadline = monotonic() + 30
    while value(ledger, waiting) < number:
        assert monotonic() < deadline, "nobody waits"


_SNAPSHOT = """
SELECT to_jsonb(jobs), (SELECT jsonb_agg(items ORDER BY position) FROM items WHERE items.job_id = jobs.job_id),
       (SELECT jsonb_agg(attempts ORDER BY attempt_id) FROM attempts WHERE attempts.job_id = jobs.job_id),
       (SELECT jsonb_agg(events ORDER BY version) FROM events WHERE events.job_id = jobs.job_id)
  FROM jobs WHERE job_id = %s
"""


def snapshot(door, job_id):
    """Everything the ledger says of a job."""
    return rows(door, _SNAPSHOT, job_id)


_CHECK = """
SELECT ARRAY[total, pending, running, succeeded, failed, skipped] AS counted, version, concurrency, running,
       (SELECT ARRAY[count(*), count(*) FILTER (WHERE state = 'pending'),
                     count(*) FILTER (WHERE state IN ('released', 'running')),
                     count(*) FILTER (WHERE state = 'succeeded'), count(*) FILTER (WHERE state = 'failed'),
                     count(*) FILTER (WHERE state = 'skipped')]
          FROM items WHERE items.job_id = jobs.job_id) AS grouped,
       EXISTS (SELECT 1 FROM events WHERE events.job_id = jobs.job_id AND kind = 'edited') AS edited,
       (SELECT array_agg(version ORDER BY version) FROM events WHERE events.job_id = jobs.job_id) AS versions,
       (SELECT array_agg(lane) FROM items WHERE items.job_id = jobs.job_id AND lane IS NOT NULL) AS lanes,
       (SELECT jsonb_object_agg(version, CASE kind WHEN 'admitted' THEN 'running' ELSE kind END)
          FROM events WHERE events.job_id = jobs.job_id AND position IS NULL AND kind = ANY(%s)) AS changes,
       (SELECT jsonb_object_agg(version, state) FROM notifications WHERE notifications.job_id = jobs.job_id) AS notified
  FROM jobs WHERE job_id = %s
"""


def check(door, job_id):
    """What holds of every job at every moment: exact counts, versions without gaps, never more than K lanes.

    And one notification for each change of its state, with the version of that change, and no checkpoint of what is
    final, unless its budget was spent.
    """
    (job,) = rows(door, _CHECK, ["accepted", "admitted", "completed", "cancelled"], job_id)
    assert job.notified == job.changes
    assert job.counted == job.grouped
    assert rows(door, _KEPT_OF_FINAL, job_id) == []
    assert job.versions == list(range(1, job.version + 1))
    lanes = job.lanes or []
    assert len(set(lanes)) == len(lanes) == job.running
    assert job.edited or all(0 <= lane < job.concurrency for lane in lanes)


_KEPT_OF_FINAL = """
SELECT position FROM checkpoints JOIN items USING (job_id, position)
 WHERE job_id = %s AND state IN ('succeeded', 'failed', 'skipped') AND error_code IS DISTINCT FROM 'budget_exhausted'
"""


def document(number, text="We will send the offer on Monday.", **fields):
    """One document as a reader hands it in."""
    fields = {"document_id": f"doc-{number}", "account_id": "acme"} | fields
    return IncomingDocument(
        fields=DocumentFields.model_validate(fields),
        source_sha256=f"{number:064x}",
        digest_fields=fields | {"transcript": {"sha256": f"{number:064x}"}},
        transcript=Transcript(turns=(Turn(text=text),)),
        place=f"place {number}",
    )


def submitted(ledger, settings, documents=3, key=None, **options) -> UUID:
    """The id of a job with so many documents."""
    return submit(ledger, settings, map(document, range(documents)), options, key or str(uuid4())).job_id
