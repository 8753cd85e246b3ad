"""Proposed CRM actions and their evidence (contracts of section 7). Nothing here changes a CRM: people review."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from pipeline.domain.documents import Id, Text
from pipeline.domain.groups import MergeGroup

ActionKind = Literal["follow_up", "update_stage", "record_objection"]
Disposition = Literal["proposed", "review_only"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Evidence(_Frozen):
    """A verbatim quote: `turn` is the turn's index, `start` and `end` are code points in that turn's text."""

    document_id: Id
    turn: int = Field(ge=0)
    start: int = Field(ge=0)
    end: int = Field(gt=0)
    quote: Text


class Quote(_Frozen):
    """What a summarizer claims was said: not yet verified. `turn` is a hint, `document_id` defaults to its own."""

    quote: Text
    turn: int | None = None
    document_id: Id | None = None


class ProposedAction(_Frozen):
    """An action as a summarizer proposes it, before its quotes are verified.

    `reasons` are the summarizer's own why it may only be reviewed.
    """

    kind: ActionKind
    text: Text = Field(min_length=1, max_length=2_000)
    owner: Text | None = None
    due_text: Text | None = None
    due_on: str | None = Field(None, pattern=r"^\d{4}-\d{2}-\d{2}$")
    proposed_stage: Text | None = None
    quotes: tuple[Quote, ...] = ()
    reasons: tuple[str, ...] = ()


class FoundAction(_Frozen):
    """An action of one document after its quotes were verified; `reasons` say why it may only be reviewed."""

    kind: ActionKind
    text: Text
    owner: Text | None = None
    due_text: Text | None = None
    due_on: str | None = None
    proposed_stage: Text | None = None
    evidence: tuple[Evidence, ...] = ()
    reasons: tuple[str, ...] = ()


class CrmAction(_Frozen):
    """One proposed CRM action with verified evidence, as it stands in rows and in the merged set."""

    action_key: str
    kind: ActionKind
    owner: Text | None
    text: Text
    due_text: Text | None = None
    due_on: str | None = None
    proposed_stage: Text | None = None
    opportunity_id: Id | None = None
    source_document_ids: tuple[Id, ...]
    evidence: tuple[Evidence, ...]
    disposition: Disposition
    reasons: tuple[str, ...] = ()


class Missing(_Frozen):
    """A document of the group that gave no actions because it failed or was skipped."""

    document_id: Id
    error_code: str


class Group(_Frozen):
    """A merge group: merging never crosses it. `complete` means that no document is missing."""

    account_id: Id
    consent_scope: Id
    retention_class: Id
    complete: bool
    missing: tuple[Missing, ...] = ()

    @property
    def key(self) -> MergeGroup:
        """What makes it this group."""
        return MergeGroup(self.account_id, self.consent_scope, self.retention_class)


class MergedAction(CrmAction):
    """One row of `actions.ndjson`."""

    schema_version: Literal[1] = 1
    job_id: str
    export_id: str
    group: Group
    superseded_by: str | None = None
    replaces: tuple[str, ...] = ()
