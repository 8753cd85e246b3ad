"""The model of a profile, asked one question at a time: stream | finish_reason | text, or the design's error code.

It asks once: what to do about a failure is the ledger's to decide. It waits no longer than its call may take.
"""

import logging
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from threading import Lock
from time import time
from typing import Any, Final

import httpx2
from openai import APIConnectionError, APIResponse, APIStatusError, OpenAI

from pipeline.settings import Profile
from pipeline.summarizers.openai_chat.answer import Answer, bodies, word
from pipeline.summarizers.openai_chat.conditions import Trouble, refused
from pipeline.summarizers.openai_chat.deadline import Transport, until
from pipeline.summarizers.port import CallReport

_OPENAI: Final = "https://api.openai.com/v1"
#: For servers that ask for no key: the SDK sends one in any case.
_NO_KEY: Final = "none"
#: What is left of a call's time when it counts as over, in seconds: a timeout may come a little early.
_OVER: Final = 0.02


@dataclass(frozen=True, slots=True)
class Question:
    """One request. `output_tokens` caps its answer; `schema` is a JSON schema, of the strict portable subset.

    `messages` have a role and a content each.
    """

    messages: tuple[dict[str, str], ...]
    output_tokens: int
    schema: dict[str, Any] | None = None


def ignore(_words: str) -> None:
    """Hear nothing."""


class Model:
    """What answers for a profile; one per process, for all of its threads."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._lock = Lock()
        self._made: OpenAI | None = None

    def ask(self, question: Question, call: CallReport, hear: Callable[[str], None] = ignore) -> str:
        """The whole text of the answer; `hear` is told each piece as it comes.

        `call` is filled in, also when it fails. Raises ItemFailure; `call.condition` has the finer name.
        """
        try:
            return self._ask(question, call, hear)
        except Trouble as trouble:
            call.condition = trouble.condition
            raise trouble.failure() from None  # what came before may quote the transcript

    def _ask(self, question: Question, call: CallReport, hear: Callable[[str], None]) -> str:
        answer = Answer(question.output_tokens, call, hear)
        try:
            with until(call.ends), self._sent(question) as response:
                call.request_id = word(response.headers.get("x-request-id"))
                for body in bodies(response.http_response):
                    answer.take(body)
        except APIStatusError as error:
            call.request_id = word(error.request_id)
            raise refused(error.status_code, error.body, error.response.headers, time()) from None
        except (APIConnectionError, httpx2.HTTPError) as error:
            if not call.has_ended:  # what comes after that is usage, and worth having but not needed
                cause = error.__cause__ if isinstance(error, APIConnectionError) else error
                raise _broken(cause, call, has_begun=answer.has_begun) from None
        return answer.text()

    def _sent(self, question: Question) -> AbstractContextManager[APIResponse[Any]]:
        create: Any = self._client().chat.completions.with_streaming_response.create  # its overloads know no dialects
        response: AbstractContextManager[APIResponse[Any]] = create(**_body(self._profile, question))
        return response

    def _client(self) -> OpenAI:
        """Made at the first call: after a worker has forked, and where a missing key is the call's failure."""
        with self._lock:
            if self._made is None:
                self._made = _connected(self._profile)
            return self._made


def _body(profile: Profile, question: Question) -> dict[str, Any]:
    """The request; what the profile leaves out is left out."""
    body = {
        "model": profile.model,
        "messages": question.messages,
        "stream": True,
        "stream_options": {"include_usage": True},
        profile.output_cap: question.output_tokens,
        "temperature": profile.temperature,
        "top_p": profile.top_p,
        "seed": profile.seed,
        "service_tier": profile.service_tier,
        "response_format": _response_format(profile.structured_output, question.schema),
    }
    return {name: value for name, value in body.items() if value is not None}


def _response_format(dialect: str, schema: dict[str, Any] | None) -> dict[str, Any] | None:
    """The schema as the profile's server wants to be told it."""
    if schema is None:
        return None
    match dialect:
        case "json_schema":
            return {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}
        case "json_object_schema":
            return {"type": "json_object", "schema": schema}
        case "json_object":
            return {"type": "json_object"}
        case _:
            return None


def _connected(profile: Profile) -> OpenAI:
    """The SDK's client as the profile says. Who has an address of its own is told nothing of OpenAI's environment."""
    for library in ("openai", "httpx2", "httpcore2"):  # whatever OPENAI_LOG or our own level say: they write requests
        logging.getLogger(library).setLevel(logging.WARNING)
    address = profile.base_url or os.environ.get("OPENAI_BASE_URL") or _OPENAI
    try:
        url = httpx2.URL(address)
        client = OpenAI(
            api_key=_key(profile),
            base_url=url.copy_with(query=None),
            default_query=dict(url.params),  # the SDK would put the path behind it
            max_retries=0,
            timeout=httpx2.Timeout(profile.idle_seconds, connect=profile.connect_seconds),
            http_client=httpx2.Client(transport=Transport(address)),
        )
    except (httpx2.InvalidURL, ValueError, ImportError):  # ImportError: a proxy that speaks SOCKS
        raise Trouble("provider_bad_request", about="its base_url, or the environment's proxy, is no address") from None
    if profile.base_url is not None:
        client.organization = client.project = None
        client._custom_headers = {}  # noqa: SLF001 - OPENAI_CUSTOM_HEADERS, which no argument can leave out
    return client


def _key(profile: Profile) -> str:
    """The profile's own, else OpenAI's, but never that to another address than the environment's."""
    key = profile.api_key.get_secret_value().strip() if profile.api_key else ""
    if not key and profile.base_url is not None:
        return _NO_KEY
    key = key or os.environ.get("OPENAI_API_KEY", "").strip()
    if not key:
        raise Trouble("provider_auth", about="none is set")
    if not (key.isascii() and key.isprintable()):
        raise Trouble("provider_auth", about="it holds characters that no key has")
    return key


def _broken(error: BaseException | None, call: CallReport, *, has_begun: bool) -> Trouble:
    """What httpx2's error means for a call."""
    match error:
        case httpx2.TimeoutException() if call.seconds <= _OVER:
            return Trouble("deadline_exceeded")
        case httpx2.ConnectTimeout():
            return Trouble("provider_unreachable", about="not in time")
        case httpx2.ConnectError() | httpx2.ProxyError():
            return Trouble("provider_unreachable")
        case httpx2.TimeoutException():
            return Trouble("provider_timeout")
        case httpx2.UnsupportedProtocol() | httpx2.LocalProtocolError():
            return Trouble("provider_bad_request", about="its base_url is no address")
        case httpx2.DecodingError() | httpx2.SSEError():
            return Trouble("provider_malformed_response", about="it cannot be decoded")
        case _:
            return Trouble("stream_incomplete" if has_begun else "provider_connection")
