"""Reduce: every document is final; its actions are merged per group and the job is completed.

One reducer per job at a time (a try-lock; whoever comes second returns). The merged rows are written group by group
under a new `reduce_id` without holding the job row; they count only when the short last transaction completes the job.
"""

from collections.abc import Iterator
from itertools import groupby
from uuid import UUID, uuid4

import structlog
from pydantic import TypeAdapter
from pydantic_core import to_json

from pipeline.domain.actions import FoundAction, MergedAction, Missing
from pipeline.domain.groups import MergeGroup
from pipeline.domain.identity import export_id
from pipeline.domain.merge import Context, Contribution, Merged, alone, merge
from pipeline.ledger import jobs, reduction
from pipeline.ledger.connection import Ledger
from pipeline.ledger.reduction import MemberRow, MergedRow, ReducibleJob
from pipeline.stages.commands import Command, Freeze

log = structlog.get_logger(__name__)

_ACTIONS = TypeAdapter(tuple[FoundAction, ...])


def reduce(ledger: Ledger, job_id: UUID) -> tuple[Command, ...]:
    """Merge and complete the job, once all its documents are final; called early, late or twice, nothing happens."""
    with ledger.try_lock(f"reduce:{job_id}") as got:
        if not got:
            return ()
        with ledger.statement() as tx:
            job = reduction.reducible_job(tx, job_id)
        if job.state == "running" and not job.open_items:
            return _merge_groups(ledger, job)
    return ()


def _merge_groups(ledger: Ledger, job: ReducibleJob) -> tuple[Command, ...]:
    reduce_id, merged_rows, rows = uuid4(), 0, 0
    context = Context(job.workspace, str(job.job_id), str(export_id(job.job_id, job.export_version)), job.require)
    with ledger.transaction() as tx:
        # A reducer whose lock ended with its connection may complete the job at this moment: behind it, or not at all.
        if jobs.lock(tx, job.job_id).state != "running":
            return ()
        reduction.discard(tx, job.job_id)
    inherited = _Inherited(ledger, job)
    for group, members in reduction.groups(ledger, job):
        merged = _merged(context, group, list(members), inherited.of(group))
        with ledger.transaction() as tx:
            reduction.write_group(tx, job.job_id, reduce_id, _merged_rows(merged, merged_rows), _row_actions(merged))
        merged_rows += len(merged.actions)
        rows += len(merged.rows)
    with ledger.transaction() as tx:
        jobs.complete(tx, jobs.lock(tx, job.job_id), reduce_id, merged_rows, rows)
    log.info("reduce.completed", job_id=str(job.job_id), actions=merged_rows)
    return (Freeze(job.job_id),)


class _Inherited:
    """The actions whose keys were given before, group by group and in the order of the groups; none in a first job."""

    def __init__(self, ledger: Ledger, job: ReducibleJob) -> None:
        actions = (MergedAction.model_validate_json(text) for text in reduction.merged_before(ledger, job))
        self._groups = groupby(actions, key=lambda action: action.group.key)
        self._next = next(self._groups, None)

    def of(self, group: MergeGroup) -> list[MergedAction]:
        """The group's actions; each group may be asked for once."""
        while self._next is not None and self._next[0] < group:
            self._next = next(self._groups, None)
        if self._next is None or self._next[0] != group:
            return []
        actions = list(self._next[1])
        self._next = next(self._groups, None)
        return actions


def _merged(context: Context, group: MergeGroup, members: list[MemberRow], before: list[MergedAction]) -> Merged:
    unmerged = (action for member in members if member.unmerged for action in alone(context, _contribution(member)))
    return merge(context, group, _contributions(members), _missing(members), (*before, *unmerged))


def _contribution(member: MemberRow) -> Contribution:
    return Contribution(
        position=member.position,
        document_id=member.document_id,
        opportunity_id=member.opportunity_id,
        occurred_at=member.occurred_at,
        actions=_ACTIONS.validate_json(member.actions or "[]"),
    )


def _contributions(members: list[MemberRow]) -> Iterator[Contribution]:
    return (_contribution(member) for member in members if member.state == "succeeded")


def _missing(members: list[MemberRow]) -> Iterator[tuple[int, Missing]]:
    for member in members:
        if member.error_code is not None:
            yield member.position, Missing(document_id=member.document_id, error_code=member.error_code)


def _merged_rows(merged: Merged, first: int) -> Iterator[MergedRow]:
    for ordinal, action in enumerate(merged.actions, first):
        yield MergedRow(ordinal, action.action_key, action.model_dump_json())


def _row_actions(merged: Merged) -> Iterator[tuple[int, str]]:
    return ((position, to_json(actions).decode()) for position, actions in merged.rows.items())
