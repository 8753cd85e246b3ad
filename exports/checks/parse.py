"""From one line of foreign bytes to a model: strict types, no unknown fields, no key twice, no NaN, no deep nesting."""

import json
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from exports.checks.findings import Findings

Model = TypeVar("Model", bound=BaseModel)


def parse(model: type[Model], line: bytes, place: str, findings: Findings) -> Model | None:
    """The line as the model, or None with findings that name the fields and never their values."""
    try:
        parsed = model.model_validate_json(line, strict=True)
    except ValidationError as error:
        for fault in error.errors(include_input=False, include_url=False, include_context=False):
            findings.add(place, _fault(fault["type"], fault["loc"], fault["msg"]))
        return None
    try:
        # pydantic lets the last of two equal keys win, so what a person reads first need not be what was checked.
        json.loads(line, object_pairs_hook=_once, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        findings.add(place, str(error) if isinstance(error, _Twice) else "is not plain JSON")
        return None
    return parsed


class _Twice(ValueError):
    """An object has one key twice."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Twice("an object has the same key twice")
    return found


def _no_constant(_: str) -> NoReturn:
    raise ValueError


def _fault(kind: str, loc: tuple[int | str, ...], message: str) -> str:
    # The name of an unknown field is the writer's own word.
    known = loc[:-1] if kind == "extra_forbidden" else loc
    return f"{'.'.join(map(str, known)) or 'line'}: {message}"
