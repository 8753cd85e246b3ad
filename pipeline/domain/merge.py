"""Merging one group's actions: the same result in any order of completion, and a key that survives a re-run.

Equal kind, owner, opportunity and normalised text unite. Of competing stage changes of one opportunity the latest
call's stays, the others say by which they are superseded. A key is made of the anchor (the earliest evidence) alone:
no text, owner, model or time, so that a re-run updates a CRM row instead of doubling it.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal, NamedTuple

from pipeline.domain.actions import (
    CrmAction,
    Disposition,
    Evidence,
    FoundAction,
    Group,
    MergedAction,
    Missing,
)
from pipeline.domain.canonical import canonical
from pipeline.domain.evidence import normalise
from pipeline.domain.groups import MergeGroup

GROUP_INCOMPLETE: Final = "group_incomplete"
JOB_CANCELLED: Final = "job_cancelled"

_BEFORE_ALL: Final = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one succeeded document brings into its group."""

    position: int
    document_id: str
    opportunity_id: str | None
    occurred_at: datetime | None
    actions: tuple[FoundAction, ...]


@dataclass(frozen=True, slots=True)
class Context:
    """What every merged row of a job repeats."""

    workspace: str
    job_id: str
    export_id: str
    require: Literal["any", "all"]


@dataclass(frozen=True, slots=True)
class Merged:
    """A group's merged set, and each contributing document's own actions with their final key and disposition."""

    actions: tuple[MergedAction, ...]
    rows: dict[int, tuple[CrmAction, ...]]


class _Source(NamedTuple):
    position: int
    contribution: Contribution
    action: FoundAction


class _Anchor(NamedTuple):
    """Where an action begins: (position, turn) of its earliest evidence; without evidence the turn is None."""

    position: int
    turn: int | None
    document_id: str


@dataclass(frozen=True, slots=True)
class _United:
    sources: tuple[_Source, ...]
    evidence: tuple[Evidence, ...]
    anchor: _Anchor

    @property
    def first(self) -> FoundAction:
        return self.sources[0].action

    @property
    def opportunity_id(self) -> str | None:
        return self.sources[0].contribution.opportunity_id

    @property
    def latest_call(self) -> tuple[datetime, int]:
        return max((source.contribution.occurred_at or _BEFORE_ALL, source.position) for source in self.sources)

    def sort_key(self) -> tuple[int, int, str, str, str, str]:
        turn = -1 if self.anchor.turn is None else self.anchor.turn
        action = self.first
        return (
            self.anchor.position,
            turn,
            action.kind,
            action.text,
            action.owner or "",
            self.opportunity_id or "",
        )


def merge(
    context: Context,
    group: MergeGroup,
    contributions: Iterable[Contribution],
    missing: Iterable[tuple[int, Missing]],
) -> Merged:
    """The merged set of one group; `missing` are its failed and skipped documents with their positions."""
    united = _unite(sorted(contributions, key=lambda contribution: contribution.position))
    gaps = tuple(gap for _, gap in sorted(missing, key=lambda pair: pair[0]))
    shown = Group(**group._asdict(), complete=not gaps, missing=gaps)
    extra = {GROUP_INCOMPLETE} if gaps and context.require == "all" else set()
    keys = _keys(context.workspace, united)
    superseded = _superseded(united, keys)
    actions: list[MergedAction] = []
    rows: defaultdict[int, list[CrmAction]] = defaultdict(list)
    for action, key in zip(united, keys, strict=True):
        crm = _crm_action(action, key, extra)
        actions.append(
            MergedAction(
                job_id=context.job_id,
                export_id=context.export_id,
                group=shown,
                superseded_by=superseded.get(key),
                **dict(crm),
            )
        )
        for source in action.sources:
            rows[source.position].append(_row_action(crm, source))
    return Merged(tuple(actions), {position: tuple(found) for position, found in rows.items()})


def alone(context: Context, contribution: Contribution) -> tuple[CrmAction, ...]:
    """A document's own actions in a cancelled job: nothing is merged, and all of it may only be reviewed."""
    united = _unite([contribution])
    keys = _keys(context.workspace, united)
    return tuple(_crm_action(action, key, {JOB_CANCELLED}) for action, key in zip(united, keys, strict=True))


def _unite(contributions: Sequence[Contribution]) -> list[_United]:
    """Equal actions become one, in the order of their anchors."""
    position_of = {contribution.document_id: contribution.position for contribution in contributions}
    equal: defaultdict[tuple[str | None, ...], list[_Source]] = defaultdict(list)
    for contribution in contributions:
        for action in contribution.actions:
            equal[_identity(contribution, action)].append(_Source(contribution.position, contribution, action))
    united = [_one(tuple(sources), position_of) for sources in equal.values()]
    return sorted(united, key=_United.sort_key)


def _identity(contribution: Contribution, action: FoundAction) -> tuple[str | None, ...]:
    text = normalise(action.text).strip()
    return (action.kind, action.owner, contribution.opportunity_id, text, action.proposed_stage)


def _one(sources: tuple[_Source, ...], position_of: dict[str, int]) -> _United:
    def place(evidence: Evidence) -> tuple[int, int, int, int]:
        # A quote of a document that brought nothing itself sorts behind the ones that did.
        return (position_of.get(evidence.document_id, 1 << 62), evidence.turn, evidence.start, evidence.end)

    evidence = sorted({quote for source in sources for quote in source.action.evidence}, key=place)
    if evidence:
        first = evidence[0]
        position = position_of.get(first.document_id, sources[0].position)
        anchor = _Anchor(position, first.turn, first.document_id)
    else:
        anchor = _Anchor(sources[0].position, None, sources[0].contribution.document_id)
    return _United(sources, tuple(evidence), anchor)


def _keys(workspace: str, united: Sequence[_United]) -> list[str]:
    """One key per action, in their order (which is by text on one anchor): the second on an anchor gets `-2`."""
    seen: defaultdict[str, int] = defaultdict(int)
    keys = []
    for action in united:
        anchored = [workspace, action.first.kind, action.anchor.document_id, action.anchor.turn]
        key = "cf1-" + hashlib.sha256(canonical(anchored)).hexdigest()[:40]
        seen[key] += 1
        keys.append(key if seen[key] == 1 else f"{key}-{seen[key]}")
    return keys


def _superseded(united: Sequence[_United], keys: Sequence[str]) -> dict[str, str]:
    """Of each opportunity's stage changes all but the latest call's: key -> the key that stands instead."""
    competing: defaultdict[str, list[tuple[tuple[datetime, int], str]]] = defaultdict(list)
    for action, key in zip(united, keys, strict=True):
        if action.first.kind == "update_stage" and action.opportunity_id is not None:
            competing[action.opportunity_id].append((action.latest_call, key))
    losers: dict[str, str] = {}
    for changes in competing.values():
        _, winner = max(changes)
        losers |= {key: winner for _, key in changes if key != winner}
    return losers


def _crm_action(united: _United, key: str, extra: set[str]) -> CrmAction:
    reasons = extra.union(*(source.action.reasons for source in united.sources))
    disposition: Disposition = "review_only" if reasons else "proposed"
    first = united.first
    return CrmAction(
        action_key=key,
        kind=first.kind,
        owner=first.owner,
        text=first.text,
        due_text=next((source.action.due_text for source in united.sources if source.action.due_text), None),
        due_on=next((source.action.due_on for source in united.sources if source.action.due_on), None),
        proposed_stage=first.proposed_stage,
        opportunity_id=united.opportunity_id,
        source_document_ids=tuple(dict.fromkeys(source.contribution.document_id for source in united.sources)),
        evidence=united.evidence,
        disposition=disposition,
        reasons=tuple(sorted(reasons)),
    )


def _row_action(merged: CrmAction, source: _Source) -> CrmAction:
    """The document's own share of a merged action: its evidence and words, the merged key and disposition."""
    own = source.action
    return merged.model_copy(
        update={
            "text": own.text,
            "due_text": own.due_text,
            "due_on": own.due_on,
            "source_document_ids": (source.contribution.document_id,),
            "evidence": own.evidence,
        }
    )
