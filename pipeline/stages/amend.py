"""Amend: a finished job gets a successor that works again on what did not succeed, and carries all other rows over.

    predecessor, version n --retry--> successor, version n + 1, accepted

The successor's key is made of root and version, its digest of all that is asked: the same retry again is the same job,
whoever asks and however often; another one at the same moment is a conflict.
"""

import json
from collections.abc import Collection
from hashlib import sha256
from typing import Any, Final
from uuid import UUID, uuid4

import structlog

from pipeline.domain import failure
from pipeline.domain.canonical import canonical
from pipeline.domain.options import JobOptions, check_budget, parse
from pipeline.errors import IdempotencyConflict, InvalidRequest, JobNotTerminal
from pipeline.ledger import submissions, successors
from pipeline.ledger.connection import Ledger, Transaction
from pipeline.ledger.submissions import KeyHolder
from pipeline.ledger.successors import Predecessor, Successor
from pipeline.settings import Settings
from pipeline.stages.submit import Submitted

log = structlog.get_logger(__name__)

#: With any other option the rows that are carried over would not be the same job's.
CHANGEABLE: Final = frozenset({"concurrency", "deadline_seconds", "budget_tokens", "budget_usd"})


def amend(
    ledger: Ledger, settings: Settings, job_id: UUID, codes: Collection[str] = (), changes: dict[str, Any] | None = None
) -> Submitted:
    """Store the successor of a frozen job. `codes`: only rows that ended so; `changes`: CHANGEABLE options.

    Raises NotFound, JobNotTerminal, InvalidRequest (an unknown code, another option, nothing to do, an older version),
    IdempotencyConflict where another retry is under way.
    """
    _check_codes(codes)
    if changes and not changes.keys() <= CHANGEABLE:
        raise InvalidRequest(f"a retry keeps the job's options but {', '.join(sorted(CHANGEABLE))}")
    with ledger.transaction() as tx:
        before = successors.lock(tx, job_id)
        request = _successor(settings, before, codes, changes or {})
        holder = submissions.key_holder(tx, request.workspace, request.idempotency_key)
        if holder is None:
            _check_frozen(before)
            holder = successors.admit(tx, request)
        if holder is not None and holder.digest != request.digest:
            _refuse(tx, before, holder, request)
    if holder is not None:
        return Submitted(holder.job_id, request.idempotency_key, request.digest, created=False)
    log.info("amend.accepted", job_id=str(request.job_id), predecessor=str(job_id), version=before.export_version + 1)
    return Submitted(request.job_id, request.idempotency_key, request.digest, created=True)


def _check_codes(codes: Collection[str]) -> None:
    unknown = sorted(set(codes) - failure.POLICIES.keys())
    if unknown:
        raise InvalidRequest(f"no error code {' or '.join(unknown)}; known: {', '.join(failure.POLICIES)}")


def _check_frozen(before: Predecessor) -> None:
    if not before.frozen:
        raise JobNotTerminal(str(before.job_id), before.state, before.open_items)


def _successor(settings: Settings, before: Predecessor, codes: Collection[str], changes: dict[str, Any]) -> Successor:
    asked = parse(json.loads(before.options) | changes)
    check_budget(asked, settings.profile(asked.profile))
    chosen = sorted(set(codes))
    return Successor(
        job_id=uuid4(),
        workspace=before.workspace,
        predecessor=before.job_id,
        idempotency_key=f"retry-{before.root_job_id}-v{before.export_version + 1}",
        digest=_digest(before.job_id, chosen, asked),
        options=canonical(asked.given()).decode(),
        # An operator may have changed it since: that holds on, unless told otherwise.
        concurrency=asked.concurrency if "concurrency" in changes else before.concurrency,
        deadline_seconds=asked.deadline_seconds,
        codes=chosen or None,
        budget_tokens=asked.budget_tokens,
        budget_usd=asked.budget_usd,
    )


def _digest(predecessor: UUID, codes: list[str], options: JobOptions) -> str:
    asked = {"predecessor": str(predecessor), "codes": codes, "options": options.given()}
    return sha256(canonical(asked)).hexdigest()


def _refuse(tx: Transaction, before: Predecessor, holder: KeyHolder, request: Successor) -> None:
    """Another retry came first: while that is under way, a conflict; later, its job is the one to retry."""
    newest, frozen = successors.newest(tx, before.root_job_id)
    if frozen:
        raise InvalidRequest(f"job {before.job_id} was retried before: its newest version is job {newest}, retry that")
    to_do = "another retry is under way: when it has ended, retry its job"
    raise IdempotencyConflict(request.idempotency_key, str(holder.job_id), holder.digest, request.digest, to_do)
