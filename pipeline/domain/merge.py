"""Merging one group's actions: the same result in any order of completion, and a key that survives a re-run.

Equal kind, owner, opportunity and normalised text unite. Of competing stage changes of one opportunity the latest
call's stays, the others say by which they are superseded. What a document's own row says depends on the other documents
in its key and its disposition alone.
"""

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
from pipeline.domain.groups import MergeGroup
from pipeline.domain.keys import Bearer, Identity, Key, identity, keys

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
    """A group's merged set, and each contributing document's own actions with their final key and disposition.

    A document's actions stand in the order of its own evidence, whatever they were merged with: a row that a successor
    job carries over has the same bytes.
    """

    actions: tuple[MergedAction, ...]
    rows: dict[int, tuple[CrmAction, ...]]


class _Source(NamedTuple):
    """An action of a document, the `number`-th that it brought."""

    position: int
    number: int
    contribution: Contribution
    action: FoundAction


class _Anchor(NamedTuple):
    """Where an action begins: (position, turn) of its earliest evidence; without evidence the turn is None."""

    position: int
    turn: int | None
    document_id: str


@dataclass(frozen=True, slots=True)
class _United:
    identity: Identity
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
    def bearer(self) -> Bearer:
        """What its key depends on."""
        turns = tuple((quote.document_id, quote.turn) for quote in self.evidence)
        anchor = (self.anchor.document_id, self.anchor.turn)
        return Bearer(self.first.kind, anchor, self.identity, turns)

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
    inherited: Iterable[CrmAction] = (),
) -> Merged:
    """The merged set of one group.

    `missing` are its failed and skipped documents with their positions, `inherited` the actions whose keys the
    predecessor job gave, oldest first.
    """
    united = _unite(sorted(contributions, key=lambda contribution: contribution.position))
    gaps = tuple(gap for _, gap in sorted(missing, key=lambda pair: pair[0]))
    shown = Group(**group._asdict(), complete=not gaps, missing=gaps)
    extra = {GROUP_INCOMPLETE} if gaps and context.require == "all" else set()
    given = _given(context, united, inherited)
    superseded = _superseded(united, given)
    actions: list[MergedAction] = []
    shares: list[_Share] = []
    for action, key in zip(united, given, strict=True):
        crm = _crm_action(action, key.action_key, extra)
        actions.append(
            MergedAction(
                job_id=context.job_id,
                export_id=context.export_id,
                group=shown,
                superseded_by=superseded.get(key.action_key),
                replaces=key.replaces,
                **dict(crm),
            )
        )
        shares.extend(_Share(source, _row_action(crm, source)) for source in action.sources)
    return Merged(tuple(actions), _rows(shares))


def alone(context: Context, contribution: Contribution) -> tuple[CrmAction, ...]:
    """A document's own actions in a cancelled job: nothing is merged, and all of it may only be reviewed."""
    united = _unite([contribution])
    shares = (
        _Share(source, _row_action(_crm_action(action, key.action_key, set()), source))
        for action, key in zip(united, _given(context, united), strict=True)
        for source in action.sources
    )
    return tuple(unmerged(action) for action in _rows(shares).get(contribution.position, ()))


def unmerged(action: CrmAction) -> CrmAction:
    """A row's action in a cancelled job: its key stays, and whether its group is complete nobody has asked."""
    reasons = {*action.reasons, JOB_CANCELLED} - {GROUP_INCOMPLETE}
    return action.model_copy(update={"disposition": "review_only", "reasons": tuple(sorted(reasons))})


class _Share(NamedTuple):
    source: _Source
    action: CrmAction


def _rows(shares: Iterable[_Share]) -> dict[int, tuple[CrmAction, ...]]:
    def place(share: _Share) -> tuple[int, int, str, str, str, str, int]:
        source = share.source
        own = _one((), (source,), {source.contribution.document_id: source.position})
        return (*own.sort_key(), source.number)

    rows: defaultdict[int, list[CrmAction]] = defaultdict(list)
    for share in sorted(shares, key=place):
        rows[share.source.position].append(share.action)
    return {position: tuple(found) for position, found in rows.items()}


def _unite(contributions: Sequence[Contribution]) -> list[_United]:
    """Equal actions become one, in the order of their anchors."""
    position_of = {contribution.document_id: contribution.position for contribution in contributions}
    equal: defaultdict[Identity, list[_Source]] = defaultdict(list)
    for contribution in contributions:
        for number, action in enumerate(contribution.actions):
            same = identity(action, contribution.opportunity_id)
            equal[same].append(_Source(contribution.position, number, contribution, action))
    united = [_one(same, tuple(sources), position_of) for same, sources in equal.items()]
    return sorted(united, key=_United.sort_key)


def _one(same: Identity, sources: tuple[_Source, ...], position_of: dict[str, int]) -> _United:
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
    return _United(same, sources, tuple(evidence), anchor)


def _given(context: Context, united: Sequence[_United], inherited: Iterable[CrmAction] = ()) -> list[Key]:
    """One key per action, in their order (which is by text on one anchor)."""
    return keys(context.workspace, [action.bearer for action in united], inherited)


def _superseded(united: Sequence[_United], given: Sequence[Key]) -> dict[str, str]:
    """Of each opportunity's stage changes all but the latest call's: key -> the key that stands instead."""
    competing: defaultdict[str, list[tuple[tuple[datetime, int], str]]] = defaultdict(list)
    for action, (key, _) in zip(united, given, strict=True):
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
