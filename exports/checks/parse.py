"""From one line of foreign bytes to a model: strict types, no unknown fields, no key twice, no NaN, no deep nesting."""

import json
from typing import Any, Final, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from exports.checks.findings import Findings

Model = TypeVar("Model", bound=BaseModel)

#: Commas. pydantic keeps an object for every fault: 16 MiB of `{},` took 12 GB, this many take half of one.
_MOST_PARTS: Final = 100_000
#: Faults of one line that are worth naming one by one.
_MOST_FAULTS: Final = 20


def parse(model: type[Model], line: bytes, place: str, findings: Findings) -> Model | None:
    """The line as the model, or None with findings that name the fields and never their values."""
    if line.count(b",") > _MOST_PARTS:
        findings.add(place, "has more parts than a line of a bundle can have")
        return None
    try:
        parsed = model.model_validate_json(line, strict=True)
    except ValidationError as error:
        if error.error_count() > _MOST_FAULTS:
            findings.add(place, f"is nothing like it should be: {error.error_count()} faults")
            return None
        for fault in error.errors(include_input=False, include_url=False, include_context=False):
            findings.add(place, _fault(fault["type"], fault["loc"], fault["msg"]))
        return None
    # What is written as we write it holds no key twice: the slow look is for other writers' lines.
    if parsed.model_dump_json(by_alias=True).encode() != line and (wrong := _not_plain(line)) is not None:
        findings.add(place, wrong)
        return None
    return parsed


def _not_plain(line: bytes) -> str | None:
    """pydantic lets the last of two equal keys win: what a person reads first need not be what was checked."""
    try:
        json.loads(line, object_pairs_hook=_once, parse_constant=_no_constant)
    except _Twice:
        return "an object has the same key twice"
    except (ValueError, RecursionError):
        return "is not plain JSON"
    return None


class _Twice(ValueError):
    """An object has one key twice."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Twice
    return found


def _no_constant(_: str) -> NoReturn:
    raise ValueError


def _fault(kind: str, loc: tuple[int | str, ...], message: str) -> str:
    # The name of an unknown field is the writer's own word.
    known = loc[:-1] if kind == "extra_forbidden" else loc
    return f"{'.'.join(map(str, known)) or 'line'}: {message}"
