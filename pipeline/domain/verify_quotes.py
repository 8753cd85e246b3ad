"""From what a summarizer claims to what was said: each proposed action gets verified evidence or a reason.

Nothing is silently kept and nothing silently dropped: an action without a verified quote stays, review_only.
"""

from collections.abc import Callable
from typing import Final

from pipeline.domain.actions import Evidence, FoundAction, ProposedAction, Quote
from pipeline.domain.documents import DocumentFields, Transcript
from pipeline.domain.evidence import Haystack
from pipeline.domain.groups import MergeGroup

QUOTE_NOT_FOUND: Final = "quote_not_found"
UNKNOWN_SOURCE: Final = "unknown_source"
FOREIGN_ACCOUNT: Final = "foreign_account"
STAGE_CHANGE: Final = "stage_change"
UNKNOWN_OWNER: Final = "unknown_owner"


#: Finds another document of the job by its id: its group and words, or None where there is none.
Lookup = Callable[[str], tuple[MergeGroup, Transcript] | None]


def verify_quotes(
    proposed: tuple[ProposedAction, ...], fields: DocumentFields, transcript: Transcript, lookup: Lookup
) -> tuple[FoundAction, ...]:
    """The document's actions with their evidence, in the summarizer's order."""
    haystacks = {fields.document_id: Haystack(fields.document_id, transcript)}

    def checked(quote: Quote) -> Evidence | str:
        source = quote.document_id or fields.document_id
        if source not in haystacks:
            other = lookup(source)
            if other is None:
                return UNKNOWN_SOURCE
            if other[0] != MergeGroup.of(fields):
                return FOREIGN_ACCOUNT
            haystacks[source] = Haystack(source, other[1])
        return haystacks[source].locate(quote) or QUOTE_NOT_FOUND

    return tuple(_found(action, [checked(quote) for quote in action.quotes]) for action in proposed)


def _found(action: ProposedAction, checked: list[Evidence | str]) -> FoundAction:
    evidence = tuple(dict.fromkeys(quote for quote in checked if isinstance(quote, Evidence)))
    reasons = {*action.reasons, *(reason for reason in checked if isinstance(reason, str))}
    if not evidence:
        reasons.add(QUOTE_NOT_FOUND)
    if action.kind == "update_stage":
        reasons.add(STAGE_CHANGE)
    return FoundAction(
        kind=action.kind,
        text=action.text,
        owner=action.owner,
        due_text=action.due_text,
        due_on=action.due_on,
        proposed_stage=action.proposed_stage,
        evidence=evidence,
        reasons=tuple(sorted(reasons)),
    )
