"""What comes back: a summarizer's Summary, and the rows and views that leave (contracts of section 7)."""

from collections.abc import Iterable
from typing import Literal, NamedTuple, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from pipeline.domain.actions import CrmAction, ProposedAction
from pipeline.domain.documents import Id, Text, UtcTime, Warning

ItemState = Literal["pending", "released", "running", "succeeded", "failed", "skipped"]
JobState = Literal["accepted", "running", "completed", "cancelled"]

_Number = TypeVar("_Number", int, float)

#: What the ledger can hold of a count.
_BIGINT = 2**63 - 1


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Usage(_Frozen):
    """Tokens, and money where it is known. None means unknown, which is not zero.

    Cached tokens are those of the input that the provider had read before. `unknown_calls` calls reported no usage:
    the sums are at least so much.
    """

    input_tokens: int | None = Field(None, ge=0, le=_BIGINT)
    cached_tokens: int | None = Field(None, ge=0, le=_BIGINT)
    output_tokens: int | None = Field(None, ge=0, le=_BIGINT)
    cost_usd: float | None = Field(None, ge=0, allow_inf_nan=False)
    unknown_calls: int = Field(0, ge=0, le=_BIGINT)

    @classmethod
    def total(cls, parts: Iterable[Self]) -> Self:
        """The sum; a number that no part knows stays unknown."""
        usages = list(parts)

        def known(numbers: Iterable[_Number | None]) -> _Number | None:
            present = [number for number in numbers if number is not None]
            return sum(present, start=present[0] * 0) if present else None

        return cls(
            input_tokens=known(usage.input_tokens for usage in usages),
            cached_tokens=known(usage.cached_tokens for usage in usages),
            output_tokens=known(usage.output_tokens for usage in usages),
            cost_usd=known(usage.cost_usd for usage in usages),
            unknown_calls=sum(usage.unknown_calls for usage in usages),
        )


class Summary(_Frozen):
    """What a summarizer found in one transcript; its quotes are claims until they are verified."""

    summary: Text = Field(min_length=1)
    actions: tuple[ProposedAction, ...] = ()
    model: Text | None = None
    warnings: tuple[Warning, ...] = ()


class Counts(_Frozen):
    """A job's documents by outward state; a released item counts as running. The five sum to `total`."""

    total: int
    pending: int
    running: int
    succeeded: int
    failed: int
    skipped: int


class ManifestRow(_Frozen):
    """One row of `manifest.ndjson`: one input and its one final result."""

    schema_version: Literal[1] = 1
    job_id: str
    export_id: str
    export_version: int
    position: int
    document_id: Id
    account_id: Id
    source_sha256: str
    state: Literal["succeeded", "failed", "skipped"]
    attempt_count: int
    attempt_id: str | None
    error_code: str | None
    error_detail: str | None
    summary: Text | None
    actions: tuple[CrmAction, ...]
    warnings: tuple[Warning, ...]
    usage: Usage
    model: str | None


class ItemResult(_Frozen):
    """One document and what became of it; a result's fields are None until it succeeded."""

    document_id: Id
    position: int
    state: ItemState
    attempt_count: int
    attempt_id: str | None = None
    summary: Text | None = None
    actions: tuple[CrmAction, ...] | None = None
    error_code: str | None = None
    error_detail: str | None = None
    warnings: tuple[Warning, ...] = ()
    usage: Usage = Usage()
    model: str | None = None


class JobView(_Frozen):
    """A job as callers see it. `waiting_for` says why nothing moves, where that is known.

    `concurrency` and `expires_at` are what holds now, whatever the options were: both may have been edited.
    `predecessor` is the job that it amends, `successor` the one that amends it.
    """

    job_id: str
    idempotency_key: str
    state: JobState
    version: int
    schema_version: Literal[1] = 1
    created_at: UtcTime
    expires_at: UtcTime
    concurrency: int
    counts: Counts
    options: dict[str, str | int | float]
    usage: Usage
    waiting_for: str | None = None
    same_content_as: str | None = None
    predecessor: str | None = None
    successor: str | None = None


class ManifestRecord(NamedTuple):
    """What the ledger knows of one terminal item, for its manifest row; the `_json` fields are JSON texts as stored."""

    position: int
    document_id: str
    account_id: str
    source_sha256: str
    state: str
    attempt_count: int
    attempt_id: str | None
    error_code: str | None
    error_detail: str | None
    summary: str | None
    actions_json: str
    warnings_json: str
    input_tokens: int | None
    cached_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    unknown_calls: int
    model: str | None


class ExportHeader(NamedTuple):
    """What an export says about its job; nothing of it depends on a clock or on chance."""

    job_id: str
    idempotency_key: str
    digest: str
    export_id: str
    export_version: int
    supersedes: str | None
    job_state: str
    options: dict[str, str | int | float]
    total: int
    merged_rows: int
