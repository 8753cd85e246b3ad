"""Check a profile: one tiny call as a summary is asked for, one tiny structured call as actions are.

What goes wrong is said in the client's own sentence with what to do about it, never in the provider's words.
"""

import json
from dataclasses import dataclass
from typing import Any, Final

from pipeline.errors import CallfoldError, ItemFailure
from pipeline.settings import Profile, Settings
from pipeline.summarizers.openai_chat.model import Model, Question
from pipeline.summarizers.port import CallReport, Demand, Step
from pipeline.summarizers.registry import summarizer
from pipeline.summarizers.unrecorded import Unrecorded

#: Both calls together take no longer.
_SECONDS: Final = 120.0
_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"works": {"type": "boolean"}},
    "required": ["works"],
    "additionalProperties": False,
}
#: The server took the request and a model answered; that it would not say so little says nothing of the profile.
_TAKEN: Final = frozenset({"model_refusal"})


@dataclass(frozen=True, slots=True)
class Checked:
    """Whether the profile works, what was seen in one line, and what to do where it does not."""

    profile: str
    ok: bool
    state: str
    to_do: str | None = None


def check_profile(settings: Settings, name: str) -> Checked:
    """What is wrong with the profile of that name, if anything. Raises NotFound for an unknown one."""
    profile = settings.profile(name)
    if profile.summarizer != "openai_chat":
        return _needs_no_provider(settings, name, profile)
    model, attempt = Model(profile), Unrecorded(profile, _SECONDS)
    for step, ask in (("summary", _ask_text), ("actions", _ask_structured)):
        with attempt.call(Step(step), Demand(0, profile.output_tokens)) as call:
            try:
                ask(model, profile, call)
            except ItemFailure as failed:
                if call.condition not in _TAKEN:
                    return Checked(name, ok=False, state=failed.detail, to_do=_to_do(name, profile, step, call))
    answered = ", ".join(report.model for _, report in attempt.reports[:1] if report.model)
    return Checked(
        name, ok=True, state=f"{answered or profile.model} answers, structured_output {profile.structured_output}"
    )


def _needs_no_provider(settings: Settings, name: str, profile: Profile) -> Checked:
    try:
        summarizer(profile, settings)
    except CallfoldError as error:
        return Checked(name, ok=False, state=str(error), to_do="correct its summarizer, or what that needs")
    return Checked(name, ok=True, state=f"{profile.summarizer} needs no provider")


def _ask_text(model: Model, profile: Profile, call: CallReport) -> None:
    model.ask(Question(_words("Answer with one word: ready"), profile.output_tokens), call)


def _ask_structured(model: Model, profile: Profile, call: CallReport) -> None:
    asked = 'Answer with this JSON object and nothing else: {"works": true}'
    text = model.ask(Question(_words(asked), profile.output_tokens, _SCHEMA), call)
    if not _is_the_object(text):
        call.condition = "output_schema_invalid"
        raise ItemFailure("invalid_output", "the answer to a structured request is not the JSON that was asked for")


def _is_the_object(text: str) -> bool:
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(answer, dict) and isinstance(answer.get("works"), bool)


def _words(asked: str) -> tuple[dict[str, str], ...]:
    return ({"role": "system", "content": "You check a connection."}, {"role": "user", "content": asked})


def _to_do(name: str, profile: Profile, step: str, call: CallReport) -> str:  # noqa: C901 - a table of clauses
    address = profile.address or "OPENAI_BASE_URL, or its absence,"
    match call.condition:
        case "provider_bad_request" | "provider_rejected" | "output_schema_invalid" if step == "actions":
            another = f"set structured_output to another than {profile.structured_output}"
            return f"{another}: docs/models.md says which server takes which"
        case "provider_bad_request" | "provider_rejected":
            return "leave out temperature, top_p, seed and service_tier, or set output_cap to the other parameter"
        case "provider_auth":
            return f"set its api_key, best as CALLFOLD_PROFILES__{name.upper()}__API_KEY"
        case "provider_forbidden":
            return f"have the provider allow this key the model {profile.model}"
        case "model_not_found":
            return f"is {profile.model} a model there, and {address} the root of its API, such as https://host/v1?"
        case "provider_quota_exhausted":
            return f"raise the quota or pay, then `callfold resume {name}`"
        case "provider_unreachable" | "provider_connection" | "provider_malformed_response":
            return f"is {address} right, with its port and path, and the server up?"
        case "input_too_large" | "context_too_long":
            return "lower context_tokens and output_tokens to what the model has"
        case "output_empty" | "output_truncated":
            return "a model that thinks may have thought up to its cap: raise output_tokens, or take another model"
        case "provider_timeout" | "deadline_exceeded":
            return "the server was reached and is slow: see to it, or raise idle_seconds and call_seconds"
        case _:
            return "the server was reached: try again in some minutes"
