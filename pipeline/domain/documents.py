"""What a caller hands in: documents and their transcripts.

A Transcript is a list of turns whose index never changes: blank turns stay, nothing is trimmed. Evidence points
into it by turn index and code points, so everything that quotes relies on that.
"""

from datetime import UTC, datetime
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)

from pipeline.domain.text import is_storable, storable


def _clean_id(value: str) -> str:
    if not is_storable(value):
        raise ValueError("holds a NUL character or a lone surrogate; ids must be plain text")
    return value


def _not_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("holds nothing but blanks")
    return value


def _clean_text(value: Any) -> Any:
    return storable(value) if isinstance(value, str) else value


def _utc(value: datetime) -> datetime:
    try:
        return value.astimezone(UTC)
    except OverflowError:  # which pydantic lets through: it is no ValueError
        raise ValueError("outside the years 1 to 9999 in UTC") from None


Id = Annotated[str, Field(min_length=1, max_length=512), AfterValidator(_clean_id)]
GivenId = Annotated[Id, AfterValidator(_not_blank)]
# Before: pydantic refuses a lone surrogate before any validator that comes after.
Text = Annotated[str, BeforeValidator(_clean_text)]
UtcTime = Annotated[AwareDatetime, AfterValidator(_utc)]
#: Seconds from the start of the recording.
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Turn(BaseModel):
    """One stretch of speech. `speaker` is None where the source names nobody; times are seconds or None."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: Text
    speaker: Text | None = None
    start: Seconds | None = None
    end: Seconds | None = None


class Transcript(BaseModel):
    """The turns of one call, in the source's order."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    turns: tuple[Turn, ...]

    def is_blank(self) -> bool:
        """Whether nobody says anything at all."""
        return not any(turn.text.strip() for turn in self.turns)


class Warning(BaseModel):  # noqa: A001 - the contract's word; nothing here raises Python warnings
    """Something about a document that a reader of its row should know: a code and a place, never its text."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    code: str
    place: str | None = None


class DocumentFields(BaseModel):
    """What a caller says about a document besides its words."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    document_id: GivenId
    account_id: GivenId
    consent_scope: Id = "default"
    retention_class: Id = "default"
    occurred_at: UtcTime | None = None
    opportunity_id: Id | None = None
    contact_id: Id | None = None
    owner_hint: Id | None = None


class DocumentInput(DocumentFields):
    """One document as a caller submits it: either `transcript` (text in any shape a reader knows) or `turns`."""

    transcript: str | None = None
    turns: Annotated[tuple[Turn, ...], Field(fail_fast=True)] | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.transcript is None) == (self.turns is None):
            raise ValueError("give either transcript or turns")
        return self


class Fault(BaseModel):
    """Why a document is bad from the start: a code of `domain.failure` and our own sentence."""

    model_config = ConfigDict(frozen=True)

    code: str
    detail: str


class IncomingDocument(BaseModel):
    """A document that was read once: its fields, its transcript or the fault, and the sha256 of what was received.

    `digest_fields` is the canonical form that the job's digest covers (every field as given, the words by their hash).
    `place` says where it came from, for error messages only.
    """

    model_config = ConfigDict(frozen=True)

    fields: DocumentFields
    source_sha256: str
    digest_fields: dict[str, Any]
    transcript: Transcript | None
    fault: Fault | None = None
    warnings: tuple[Warning, ...] = ()
    place: str

    @model_validator(mode="after")
    def _words_or_fault(self) -> Self:
        if (self.transcript is None) != (self.fault is not None):
            raise ValueError("an incoming document has either a transcript or a fault")
        return self
