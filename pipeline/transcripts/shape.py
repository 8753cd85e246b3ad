"""What is wrong with a document's fields, as Problems: the field and the rule, never the value."""

import re
from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from pipeline.errors import Problem

_UNKNOWN = "extra_forbidden"
#: A key that is no identifier may be somebody's words.
_FIELD = re.compile(r"[A-Za-z_][\w.-]{0,63}")


def problems(error: ValidationError, place: str) -> Iterator[Problem]:
    """One Problem for each rule that was broken, at `place` and the field."""
    for fault in error.errors(include_url=False, include_context=False):
        field = field_of(fault["loc"][:-1] if fault["type"] == _UNKNOWN else fault["loc"])
        yield Problem(f"{place} {field}".rstrip(), _rule(fault["type"], fault["msg"], fault["input"]))


def field_of(path: tuple[str | int, ...]) -> str:
    """A field's path in words that are ours or the format's, never somebody's."""
    return ".".join(_shown(part) for part in path)


def _rule(kind: str, message: str, given: Any) -> str:
    if kind == "string_type" and isinstance(given, int | float):
        return "must be a string: quote it"
    if kind == "string_unicode":
        return "not Unicode: write it, or the file's name, in UTF-8"
    if kind == "model_type":
        return "must be an object"
    if kind == _UNKNOWN:  # its name stays out: in a file with a wrong shape it may be what somebody said
        return "an unknown field: leave it out, or spell it as docs/batches.md does"
    return message.removeprefix("Value error, ")


def _shown(part: str | int) -> str:
    if isinstance(part, int):
        return str(part)
    return part if _FIELD.fullmatch(part) else "(a key)"
