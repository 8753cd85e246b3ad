"""What a person can do about each error code, and what each reason for review means. Closed tables: a test holds them
equal to the codes and reasons that exist.
"""

from typing import Final

from pipeline.domain.merge import GROUP_INCOMPLETE, JOB_CANCELLED
from pipeline.domain.verify_quotes import (
    FOREIGN_ACCOUNT,
    QUOTE_NOT_FOUND,
    STAGE_CHANGE,
    UNKNOWN_OWNER,
    UNKNOWN_SOURCE,
)

_RETRY: Final = "retry the job (`callfold retry`)"

ADVICE: Final[dict[str, str]] = {
    "input_too_large": "split the call, or use a profile that takes longer input",
    "empty_input": "check the recording: the transcript has no words",
    "too_short": "nothing to do, unless the transcript was cut",
    "unreadable_input": "export the transcript again as UTF-8 in a known format",
    "not_a_call": "remove the file from the batch, or correct it",
    "rate_limited": f"raise the provider's limits or lower the concurrency, then {_RETRY}",
    "quota_exhausted": f"top up the provider's account, then {_RETRY}",
    "provider_auth": f"check the provider's key and the model's name, then {_RETRY}",
    "provider_rejected": "look at the detail: the provider does not take this document as it is",
    "provider_unavailable": f"check the provider's status, then {_RETRY}",
    "provider_timeout": f"{_RETRY}, or use a faster model",
    "invalid_output": "submit it in a new job with another model, or read the call",
    "output_truncated": "use a profile with a larger output, or split the call",
    "content_filtered": "read the call: the provider would not summarize it",
    "refused": "read the call: the model would not summarize it",
    "budget_exhausted": "go on with a larger budget: `callfold retry JOB --code budget_exhausted --budget-usd USD`",
    "failed_by_operator": "ask the operator who failed it",
    "expired": f"{_RETRY} with a longer deadline or more workers",
    "cancelled": f"if it is still wanted, {_RETRY}",
    "worker_lost": "its workers died three times: look for memory limits in their logs, then retry the job",
    "internal_error": "report it with the document and the log of its attempt: this is our bug",
}

REASONS: Final[dict[str, str]] = {
    QUOTE_NOT_FOUND: "a quote was not found in the call",
    UNKNOWN_SOURCE: "it quotes a document that is not in the job",
    FOREIGN_ACCOUNT: "it quotes a call of another group",
    STAGE_CHANGE: "a person decides about stages",
    UNKNOWN_OWNER: "its owner is nobody who spoke in the call",
    GROUP_INCOMPLETE: "calls of this group are missing",
    JOB_CANCELLED: "the job was cancelled",
}


def advice(code: str) -> str:
    """What to do about a document that ended with `code`."""
    return ADVICE.get(code, "look the code up in the documentation")


def meaning(reason: str) -> str:
    """The reason in words; one that a later release may bring is shown as it is."""
    return REASONS.get(reason, reason)
