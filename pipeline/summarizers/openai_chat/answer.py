"""One answer as it arrives: what the server sends | its text | what the call reports | a text, or the trouble with it.

An answer is a text only if it is exactly one choice that ended with `stop`, without a refusal, and is not blank.
Chunks of a stream and the one body of a server that does not stream are read alike, as the plain JSON that they are.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from time import monotonic
from typing import Any, Final, NoReturn

import httpx2

from pipeline.domain.results import Usage
from pipeline.domain.text import storable
from pipeline.summarizers.openai_chat.conditions import Trouble, embedded
from pipeline.summarizers.openai_chat.deadline import until
from pipeline.summarizers.port import CallReport

#: So much white space in a row is no text any more: the stream is broken off, and no more of it paid.
_BLANK: Final = 400
#: So much white space before an end by the cap says that it was not the text that was too long.
_BLANK_TAIL: Final = 64
#: So many characters that repeat an eighth of themselves are a loop; fewer are looked at once the cap has ended it.
_LOOP: Final = 2_000
_LOOP_TAIL: Final = 800
#: No tokenizer writes more characters a token than this for long: who does takes no heed of the cap.
_CHARACTERS_PER_TOKEN: Final = 64
#: How long the end of a stream is waited for after its last event, in seconds, so that its connection can be kept.
_END_SECONDS: Final = 0.2
_LONGEST_WORD: Final = 200
#: No call takes more tokens than this: a count above it is none.
_MOST_TOKENS: Final = 10**9


def bodies(response: httpx2.Response) -> Iterator[dict[str, Any]]:
    """The JSON objects that a server sent. Raises Trouble where it sent something else, and httpx2's errors."""
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "text/event-stream":
        yield _object(response.read())
        return
    events = iter(httpx2.EventSource(response))
    for event in events:
        if event.data.startswith("[DONE]"):
            _end(events)
            return
        if event.data:
            body = _object(event.data)
            yield {"error": body} | body if event.event == "error" else body


class Answer:
    """What has come of an answer so far. It fills in `call`; `hear` is told each piece of text.

    Its methods raise Trouble.
    """

    def __init__(self, output_tokens: int, call: CallReport, hear: Callable[[str], None]) -> None:
        self._longest = output_tokens * _CHARACTERS_PER_TOKEN
        self._call, self._hear = call, hear
        self._pieces: list[str] = []
        self._length, self._blank, self._looked = 0, 0, 0
        self._tail = ""
        #: whether a choice has come, and with it something to pay
        self.has_begun = False
        self._refused = False
        self._finish: str | None = None

    def take(self, body: dict[str, Any]) -> None:
        """Some more of it: a chunk, or all of it."""
        error = body.get("error") or (body if body.get("object") == "error" else None)
        if error:
            raise embedded(error)
        self._report(body)
        match body.get("choices"):
            case None | []:
                return
            case [{"index": index}] if index not in (0, None):
                raise _malformed("more than one choice")
            case [dict(choice)]:
                self._take(choice)
            case _:
                raise _malformed("more than one choice, or none that can be read")

    def text(self) -> str:
        """The whole text."""
        match self._finish:
            case None if self.has_begun:
                raise Trouble("stream_incomplete")
            case None:
                raise _malformed("no choice")
            case _ if self._refused:
                raise Trouble("model_refusal")
            case "stop":
                text = "".join(self._pieces)
                if not text.strip():
                    raise Trouble("output_empty")
                return text
            case "length":
                is_loop = self._blank >= _BLANK_TAIL or _is_loop(self._tail[-_LOOP_TAIL:], _LOOP_TAIL)
                raise Trouble("output_degenerate" if is_loop else "output_truncated")
            case "content_filter":
                raise Trouble("output_filtered")
            case _:
                raise _malformed("an unknown finish_reason")

    def _take(self, choice: dict[str, Any]) -> None:
        self.has_begun = True
        part = choice.get("delta") or choice.get("message") or {}
        finish = choice.get("finish_reason")
        if not isinstance(part, dict) or not isinstance(finish, str | None):
            raise _malformed("a choice that cannot be read")
        words = part.get("content")
        if not isinstance(words, str | None):
            raise _malformed("content that is no text")
        self._refused = self._refused or bool(part.get("refusal"))
        self._finish = finish or self._finish
        self._call.has_ended = self._finish is not None
        if words:
            self._add(storable(words))

    def _add(self, words: str) -> None:
        self._pieces.append(words)
        self._length += len(words)
        blank = len(words) - len(words.rstrip())
        self._blank = self._blank + blank if blank == len(words) else blank
        self._tail = (self._tail + words)[-_LOOP:]
        self._hear(words)
        if self._finish is None and self._is_degenerate():
            raise Trouble("output_degenerate")

    def _is_degenerate(self) -> bool:
        if self._blank >= _BLANK or self._length > self._longest:
            return True
        if self._length - self._looked < _LOOP // 4:
            return False
        self._looked = self._length
        return _is_loop(self._tail, _LOOP)

    def _report(self, body: dict[str, Any]) -> None:
        call = self._call
        call.request_id = call.request_id or word(body.get("id"))
        call.model = word(body.get("model")) or call.model
        call.service_tier = word(body.get("service_tier")) or call.service_tier
        call.system_fingerprint = word(body.get("system_fingerprint")) or call.system_fingerprint
        if isinstance(usage := body.get("usage"), dict):
            details = usage.get("prompt_tokens_details")
            taken, cached = _count(usage, "prompt_tokens"), _count(details, "cached_tokens")
            call.usage = Usage(
                input_tokens=taken,
                cached_tokens=None if taken is None or cached is None else min(cached, taken),
                output_tokens=_count(usage, "completion_tokens"),
            )


def word(value: object) -> str | None:
    """A provider's name for something, if it is one: short, printable text."""
    return value if isinstance(value, str) and value.isprintable() and 0 < len(value) <= _LONGEST_WORD else None


def _end(events: Iterator[object]) -> None:
    """Read on to the end, so that the connection can be used again; a server that keeps it open is not waited for."""
    with suppress(httpx2.TransportError), until(monotonic() + _END_SECONDS):
        for _ in events:
            pass


def _object(text: str | bytes) -> dict[str, Any]:
    try:
        body = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise _malformed("not JSON") from None
    if not isinstance(body, dict):
        raise _malformed("not a JSON object")
    return body


def _no_constant(_name: str) -> NoReturn:
    raise ValueError("NaN and Infinity are not JSON")


def _malformed(about: str) -> Trouble:
    return Trouble("provider_malformed_response", about=about)


def _count(numbers: object, name: str) -> int | None:
    count = numbers.get(name) if isinstance(numbers, dict) else None
    return count if isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= _MOST_TOKENS else None


def _is_loop(text: str, least: int) -> bool:
    """Whether the text, `least` characters long, is a piece of an eighth of it or less, again and again."""
    if len(text) < least:
        return False
    end = text[-least // 20 :]
    period = len(text) - len(end) - text.rfind(end, 0, -1)
    return period <= least // 8 and text[period:] == text[:-period]
