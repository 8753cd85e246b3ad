"""Receipts: one row per delivery key of a workspace; whoever writes it first has delivered."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from pipeline.errors import NotFound, StaleArrow
from pipeline.ledger.connection import Transaction


@dataclass(frozen=True, slots=True)
class Receipt:
    """Proof that an export was delivered to `uri`; `sha256` is that of its seal.json."""

    export_id: UUID
    uri: str
    sha256: str
    key: str
    delivered_at: datetime


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a job's export goes by itself, if anywhere, and whether it has got there."""

    workspace: str
    uri: str | None
    arrived: bool


def destination(tx: Transaction, job_id: UUID) -> Destination:
    """What the job's submitter asked for. Raises NotFound."""
    row = tx.exec_driver_sql(
        "SELECT workspace, deliver_to, delivered_at IS NOT NULL FROM jobs WHERE job_id = %s",
        (job_id,),
    ).one_or_none()
    if row is None:
        raise NotFound("job", str(job_id))
    return Destination(*row)


_RECEIPT = "SELECT export_id, uri, receipts.sha256, key, delivered_at FROM receipts"


def find(tx: Transaction, workspace: str, key: str) -> Receipt | None:
    """The key's receipt, whatever export it is of."""
    row = tx.exec_driver_sql(_RECEIPT + " WHERE workspace = %s AND key = %s", (workspace, key)).one_or_none()
    return Receipt(*row) if row is not None else None


def of_job(tx: Transaction, job_id: UUID) -> list[Receipt]:
    """All deliveries of the job's export, oldest first."""
    statement = _RECEIPT + " JOIN exports USING (export_id) WHERE job_id = %s ORDER BY delivered_at, key"
    return [Receipt(*row) for row in tx.exec_driver_sql(statement, (job_id,))]


_WRITE = """
INSERT INTO receipts (workspace, key, export_id, uri, sha256, delivered_at)
SELECT %(workspace)s, %(key)s, export_id, %(uri)s, sha256, clock_timestamp() FROM exports WHERE export_id = %(export)s
ON CONFLICT (workspace, key) DO NOTHING
"""


def write(tx: Transaction, workspace: str, key: str, export_id: UUID, uri: str) -> tuple[Receipt, bool]:
    """Say that the files are there: the key's receipt, and whether it is this one. Raises NotFound for the export."""
    parameters = {"workspace": workspace, "key": key, "export": export_id, "uri": uri}
    ours = tx.exec_driver_sql(_WRITE, parameters).rowcount == 1
    standing = find(tx, workspace, key)
    if standing is None:
        raise NotFound("export", str(export_id))
    return standing, ours


_ARRIVE = """
UPDATE jobs SET delivered_at = clock_timestamp(), nudged_at = NULL, nudges = 0
 WHERE job_id = %s AND deliver_to IS NOT NULL AND frozen_at IS NOT NULL AND delivered_at IS NULL
"""


def arrive(tx: Transaction, job_id: UUID) -> None:
    """Say that the job's export has got where its submitter wanted it; the caller holds the job row's lock.

    Raises StaleArrow where that is said already, or nobody wanted it.
    """
    if tx.exec_driver_sql(_ARRIVE, (job_id,)).rowcount != 1:
        raise StaleArrow("arrive", "the job is delivered, not frozen, or goes nowhere")
