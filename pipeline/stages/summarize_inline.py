"""Inline: one short document within its caller's patience, validated as in a job, and nothing durable.

    read already | within the profile's limit | summarize | verify quotes | keys and dispositions

What a job of this one document would say of it is said here, but that nothing is tried again later: no ledger, no
queue, no declared rates, no budget. What needs more time than there is raises UseAJob, before any call where that can
be told.
"""

from typing import Final

from pipeline.domain.actions import CrmAction
from pipeline.domain.documents import DocumentFields, Fault, IncomingDocument, Transcript
from pipeline.domain.groups import MergeGroup
from pipeline.domain.identity import WORKSPACE
from pipeline.domain.merge import Context, Contribution, merge
from pipeline.domain.results import ItemResult, Summary, Usage
from pipeline.domain.verify_quotes import verify_quotes
from pipeline.errors import ItemFailure, UseAJob
from pipeline.settings import Profile, Settings
from pipeline.summarizers.port import Summarizer, SummaryRequest
from pipeline.summarizers.registry import planned, summarizer
from pipeline.summarizers.tokens import within_limit
from pipeline.summarizers.unrecorded import Unrecorded

_ALONE: Final = Context(WORKSPACE, job_id="", export_id="", require="any")


def summarize_inline(
    settings: Settings,
    profile: str,
    document: IncomingDocument,
    seconds: float,
    *,
    language: str | None = None,
    by: Summarizer | None = None,
) -> ItemResult:
    """The document's result after one attempt that ends within `seconds`; `by` is the profile's summarizer, made once.

    Raises NotFound for an unknown profile, UseAJob where the time does not hold all its calls.
    """
    chosen = settings.profile(profile)
    if document.transcript is None:
        return _without(document, document.fault)
    attempt = Unrecorded(chosen, seconds)
    try:
        tokens = within_limit(document.transcript, chosen, settings.vocabularies)
        _check_is_short(settings, chosen, document.fields, document.transcript, language)
        request = SummaryRequest(document.fields, document.transcript, language, tokens)
        summary = (by or summarizer(chosen, settings)).summarize(request, attempt)
    except ItemFailure as failed:
        if failed.error_code == "provider_timeout" and attempt.is_over:
            raise UseAJob(f"{seconds:g} s were over before the document was summarized") from None
        return _without(document, Fault(code=failed.error_code, detail=failed.detail), attempt)
    return _result(document, document.transcript, summary, attempt)


def _check_is_short(
    settings: Settings, profile: Profile, fields: DocumentFields, transcript: Transcript, language: str | None
) -> None:
    """Raises UseAJob for a document that is read in parts: no caller waits for all of them one after the other."""
    calls = planned(transcript, fields, language, profile, settings.vocabularies)
    if any(step.chunk for step, _ in calls):
        raise UseAJob(f"the document takes {len(calls)} calls, one after the other")


def _without(document: IncomingDocument, fault: Fault | None, attempt: Unrecorded | None = None) -> ItemResult:
    return ItemResult(
        document_id=document.fields.document_id,
        position=0,
        state="failed",
        attempt_count=0 if attempt is None else 1,
        error_code=fault and fault.code,
        error_detail=fault and fault.detail,
        warnings=document.warnings,
        usage=Usage() if attempt is None else attempt.usage,
    )


def _result(document: IncomingDocument, transcript: Transcript, summary: Summary, attempt: Unrecorded) -> ItemResult:
    return ItemResult(
        document_id=document.fields.document_id,
        position=0,
        state="succeeded",
        attempt_count=1,
        summary=summary.summary,
        actions=_actions(document.fields, transcript, summary),
        warnings=document.warnings + summary.warnings,
        usage=attempt.usage,
        model=summary.model,
    )


def _actions(fields: DocumentFields, transcript: Transcript, summary: Summary) -> tuple[CrmAction, ...]:
    """As in its row of a job of this one document: merged with itself, so keys and dispositions are the same."""
    found = verify_quotes(summary.actions, fields, transcript, lambda _: None)
    own = Contribution(0, fields.document_id, fields.opportunity_id, fields.occurred_at, found)
    return merge(_ALONE, MergeGroup.of(fields), [own], []).rows.get(0, ())
