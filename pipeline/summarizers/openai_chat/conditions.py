"""What a provider does instead of answering: each condition by name, its error code, and our own sentence for it.

status, error body or finish_reason | condition (kept on the call's row) | error code (`domain.failure`) | what happens

Words of the provider choose the condition and go nowhere else: an error's message may quote the transcript.
"""

import re
from collections.abc import Iterator, Mapping
from email.utils import mktime_tz, parsedate_tz
from http import HTTPStatus
from math import isfinite
from typing import Any, Final

from pipeline.errors import ItemFailure

#: Each condition: its error code, and what we say of it.
CONDITIONS: Final[dict[str, tuple[str, str]]] = {
    "provider_auth": (
        "provider_auth",
        "the key is missing or wrong: correct the profile's api_key, or OPENAI_API_KEY where it has no base_url",
    ),
    "provider_forbidden": ("provider_auth", "the provider forbids this key the model, or this place the provider"),
    "model_not_found": ("provider_auth", "nothing by that name there: correct the profile's model or base_url"),
    "provider_bad_request": ("provider_auth", "the server does not take the request as the profile shapes it"),
    "provider_quota_exhausted": ("quota_exhausted", "the provider's quota or credit is spent"),
    "provider_rate_limited": ("rate_limited", "the provider asks to wait"),
    "provider_capacity": ("provider_unavailable", "the provider has no capacity for this service tier now"),
    "provider_server_error": ("provider_unavailable", "the provider failed"),
    "provider_overloaded": ("provider_unavailable", "the provider is overloaded"),
    "provider_unreachable": ("provider_unavailable", "no connection to the provider"),
    "provider_connection": ("provider_unavailable", "the connection to the provider failed"),
    "provider_malformed_response": ("provider_unavailable", "the provider's answer is not a chat completion"),
    "stream_incomplete": ("provider_unavailable", "the answer broke off before its end"),
    "provider_timeout": ("provider_timeout", "the provider fell silent in the middle of the call"),
    "deadline_exceeded": ("provider_timeout", "no whole answer before the deadline of the call"),
    "provider_rejected": ("provider_rejected", "the provider does not take this document"),
    "input_too_large": ("input_too_large", "the request is larger than the provider ever takes at once"),
    "context_too_long": ("input_too_large", "the request does not fit the model's context"),
    "input_filtered": ("content_filtered", "the provider's filter stopped the document"),
    "output_filtered": ("content_filtered", "the provider's filter stopped the answer"),
    "model_refusal": ("refused", "the model refused to answer"),
    "output_truncated": ("output_truncated", "the answer did not end within its cap"),
    "output_empty": ("invalid_output", "the answer is empty"),
    "output_degenerate": ("invalid_output", "the answer repeats itself without end"),
}


class Trouble(Exception):
    """A condition was met. `retry_after`: the seconds that the provider asks for; `about`: more of our own words."""

    def __init__(self, condition: str, *, retry_after: float | None = None, about: str | None = None) -> None:
        self.condition, self.retry_after, self.about = condition, retry_after, about
        super().__init__(condition)

    def failure(self) -> ItemFailure:
        """The item's failure that it is."""
        code, sentence = CONDITIONS[self.condition]
        detail = sentence + (f": {self.about}" if self.about else "")
        return ItemFailure(code, detail, retry_after=self.retry_after, condition=self.condition)


def refused(status: int, error: object, headers: Mapping[str, str], now: float) -> Trouble:
    """What an HTTP status of 300 or more means. `error` is the body's, as far as it was JSON; `now` as `time.time`."""
    words, message, setting = _words(error), _message(error), _setting(status, error)
    condition = _condition(status, words, message) or _of_status(status, setting)
    return _trouble(condition, setting, f"HTTP {status}", _retry_after(headers, now))


def embedded(error: object) -> Trouble:
    """What an error means that came with status 200, in a body or in the midst of a stream."""
    words, message = _words(error), _message(error)
    status = next((int(word) for word in words if re.fullmatch("[45][0-9][0-9]", word)), None)
    setting = _setting(status, error)
    condition = _condition(status, words, message) or (_of_status(status, setting) if status else _of_words(words))
    return _trouble(condition, setting, f"an error with code {status}" if status else "an error instead", None)


#: A provider's code or type that says the same under every status.
_WORDS: Final = {
    "insufficient_quota": "provider_quota_exhausted",
    "credit_balance_exhausted": "provider_quota_exhausted",
    "organization_spend_limit_exceeded": "provider_quota_exhausted",
    "project_spend_limit_exceeded": "provider_quota_exhausted",
    "organization_usage_limit_exceeded": "provider_quota_exhausted",
    "context_length_exceeded": "context_too_long",
    "content_filter": "input_filtered",
    "responsibleaipolicyviolation": "input_filtered",
    "invalid_prompt": "input_filtered",
    "model_not_found": "model_not_found",
    "unsupported_parameter": "provider_bad_request",
    "unsupported_value": "provider_bad_request",
    "unknown_parameter": "provider_bad_request",
    "invalid_json_schema": "provider_bad_request",
    "server_is_overloaded": "provider_overloaded",
    "overloaded_error": "provider_overloaded",
    "resource_unavailable": "provider_capacity",
}
#: And one that tells less than a status does: asked where there is none.
_VAGUE_WORDS: Final = {
    "rate_limit_exceeded": "provider_rate_limited",
    "rate_limit_error": "provider_rate_limited",
    "slow_down": "provider_rate_limited",
    "invalid_api_key": "provider_auth",
    "server_error": "provider_server_error",
    "internal_server_error": "provider_server_error",
    "api_error": "provider_server_error",
}
_STATUSES: Final = {
    401: "provider_auth",
    402: "provider_quota_exhausted",
    403: "provider_forbidden",
    404: "model_not_found",
    408: "provider_server_error",
    409: "provider_server_error",
    413: "input_too_large",
    429: "provider_rate_limited",
    498: "provider_capacity",
    503: "provider_overloaded",
    529: "provider_overloaded",
}
#: What servers say of a context that is too small: vLLM, SGLang, TGI, Mistral and others have no code for it.
_TOO_LONG: Final = re.compile(
    r"context[ _](length|window|size|limit)|maximum model length|(prompt|input) is too long|too many tokens"
    r"|max_new_tokens.{0,40}must be|token count.{0,60}exceeds|reduce the length of the",
    re.IGNORECASE | re.DOTALL,
)
_TOO_LARGE: Final = re.compile(r"request too large|tokens must be reduced", re.IGNORECASE)
_NO_CAPACITY: Final = re.compile(r"resource unavailable", re.IGNORECASE)
#: The parameters that a profile shapes, and its setting for each.
_SETTINGS: Final = {
    "response_format": "structured_output",
    "json_schema": "structured_output",
    "max_completion_tokens": "output_cap",
    "max_tokens": "output_cap",
    "temperature": "temperature",
    "top_p": "top_p",
    "seed": "seed",
    "service_tier": "service_tier",
    "stream_options": "base_url: the server there cannot tell the usage of a stream",
}
_NAMES: Final = "|".join(_SETTINGS)
_PARAMETER: Final = re.compile(rf"\b({_NAMES})\b")
#: One in free words, which may be the call's: "their seed round". It counts in quotes, or beside what says what it is.
_SPOKEN_OF: Final = re.compile(
    rf"""['"`]({_NAMES})['"`.\[]"""
    r"|\b(?:parameter|argument|field|property|unsupported|unknown|unrecognized|body|schema for)s?"
    rf"(?: (?:supplied|provided|value|name))?(?: ?[:.] ?| (?:-> )?)({_NAMES})\b"
    rf"|\b({_NAMES})(?:: | )(?:(?:is|are) )?(?:not (?:supported|permitted|allowed)"
    r"|unsupported|unknown|unrecognized|parameter|argument|field|extra (?:inputs?|fields?))"
    r"|\b(max_tokens|max_completion_tokens) (?:is too|must|should)",
    re.IGNORECASE,
)
#: FastAPI's validation error, which llama-cpp-python sends with a status of 500.
_REFUSED_FIELD: Final = re.compile(rf"'loc': \('body', '({_NAMES})'")


def _condition(status: int | None, words: list[str], message: str) -> str | None:
    """What the words say, where they say more than the status; None: nothing that we know."""
    if status in (413, 429) and _TOO_LARGE.search(message):
        return "input_too_large"
    if status == HTTPStatus.TOO_MANY_REQUESTS and _NO_CAPACITY.search(message):
        return "provider_capacity"
    known = next((_WORDS[word] for word in words if word in _WORDS), None)
    if known is not None:
        return known
    if status in (None, 400, 413, 422, 500) and _TOO_LONG.search(message):
        return "context_too_long"
    return None


def _of_status(status: int, setting: str | None) -> str:
    if status < 400 or (setting is not None and status in (400, 422, 500)):
        return "provider_bad_request"
    return _STATUSES.get(status) or ("provider_server_error" if status >= 500 else "provider_rejected")


def _of_words(words: list[str]) -> str:
    return next((_VAGUE_WORDS[word] for word in words if word in _VAGUE_WORDS), "provider_malformed_response")


def _trouble(condition: str, setting: str | None, where: str, retry_after: float | None) -> Trouble:
    about = f"correct its {setting} ({where})" if condition == "provider_bad_request" and setting else where
    return Trouble(condition, retry_after=retry_after, about=about)


def _parts(error: object) -> Iterator[Mapping[str, Any]]:
    """The objects that may hold its code: Gemini puts a list around it, Azure another error within."""
    if isinstance(error, list) and error:
        error = error[0]
    if isinstance(error, dict) and isinstance(error.get("error"), dict):
        error = error["error"]
    while isinstance(error, dict):
        yield error
        error = error.get("innererror")


def _words(error: object) -> list[str]:
    found = [str(part.get(name)).lower() for part in _parts(error) for name in ("code", "type")]
    metadata = next((part.get("metadata") for part in _parts(error)), None)
    if isinstance(metadata, dict) and "flagged_input" in metadata:  # OpenRouter's moderation, with a status of 403
        found.append("content_filter")
    return found


def _message(error: object) -> str:
    """The provider's own words, for patterns only; the beginning of them."""
    said = next((part.get("message") or part.get("detail") for part in _parts(error)), error)
    return said[:2_000] if isinstance(said, str) else ""


def _setting(status: int | None, error: object) -> str | None:
    """The profile's setting that the error is about, by its `param`, its `loc` or what it says; None: none of ours."""
    part: Mapping[str, Any] = next(_parts(error), {})
    detail, param, message = part.get("detail"), part.get("param"), _message(error)
    if isinstance(detail, list):  # FastAPI's validation error
        named = _PARAMETER.search(str([fault.get("loc") for fault in detail if isinstance(fault, dict)]))
    elif isinstance(param, str) and param:
        named = _PARAMETER.search(param)
    else:
        named = _REFUSED_FIELD.search(message) or (_SPOKEN_OF.search(message[:300]) if status in (400, 422) else None)
    return _SETTINGS[next(filter(None, named.groups())).lower()] if named else None


_DURATION: Final = re.compile(r"[0-9]+(?:\.[0-9]+)?|(?:[0-9]+(?:\.[0-9]+)?(?:ms|s|m|h|d))+")
_DURATION_PART: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h|d)?")
_UNITS: Final = {"ms": 0.001, "s": 1.0, "": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
_A_DAY: Final = 86_400.0


def _retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """In seconds. What says when a limit is free again is a hint, for where nothing says when to come back."""
    asked = [
        _number(headers.get("retry-after-ms"), 0.001),
        _number(headers.get("retry-after"), 1.0),
        _until(headers.get("retry-after"), now),
    ]
    hints = [
        _duration(headers.get(f"x-ratelimit-reset-{limit}"))
        for limit in ("requests", "tokens")
        if (_number(headers.get(f"x-ratelimit-remaining-{limit}"), 1.0) or 0.0) <= 0.0
    ]
    return max((seconds for seconds in asked if seconds), default=None) or max(
        (seconds for seconds in hints if seconds), default=None
    )


def _number(text: str | None, unit: float) -> float | None:
    try:
        number = float(text or "") * unit
    except ValueError:
        return None
    return number if isfinite(number) and number > 0 else None


def _until(text: str | None, now: float) -> float | None:
    try:
        parts = parsedate_tz(text or "")
        seconds = mktime_tz(parts) - now if parts else 0.0
    except (TypeError, ValueError, OverflowError, IndexError):
        return None
    return seconds if seconds > 0 else None


def _duration(text: str | None) -> float | None:
    """Such as `1s`, `6m0s` or `250`; more than a day is no duration but a date that we do not know how to read."""
    if not text or len(text) > 40 or not _DURATION.fullmatch(text):
        return None
    seconds = sum(float(number) * _UNITS[unit] for number, unit in _DURATION_PART.findall(text))
    return seconds if 0 < seconds <= _A_DAY else None
