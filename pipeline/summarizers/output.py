"""A model's raw JSON text becomes a Summary, or an `invalid_output` that names the field and the rule.

The detail never holds a value or a key that the model made up: either may be a customer's word. Cut JSON is
never repaired. A model may say its summary and its actions; usage and its name are the caller's to add.
"""

import json
import math
import re
from datetime import date
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from pipeline.domain.actions import ProposedAction
from pipeline.domain.documents import Text
from pipeline.domain.results import Summary
from pipeline.errors import ItemFailure

_FENCED = re.compile(r"\A\s*```(?:json)?[ \t]*\n(?P<body>.*)\n[ \t]*```\s*\Z", re.DOTALL | re.IGNORECASE)
_LARGEST_INTEGER = 2**63 - 1

#: pydantic's error types in our words; its own messages quote the input.
_RULES = {
    "missing": "is missing",
    "extra_forbidden": "has a field that the schema does not know",
    "string_type": "must be text",
    "string_too_short": "must not be empty",
    "string_too_long": "is too long",
    "string_pattern_mismatch": "must be a date such as 2026-01-31",
    "literal_error": "is not one of the allowed values",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "tuple_type": "must be a list",
    "model_type": "must be an object",
}


_Shape = TypeVar("_Shape", bound=BaseModel)


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    summary: Text = Field(min_length=1)
    actions: tuple[ProposedAction, ...] = ()


def parse_output(raw: str) -> Summary:
    """The Summary in a model's raw text, a code fence around it allowed.

    Raises ItemFailure `invalid_output`: not one JSON object, a number that JSON or a database cannot hold, a
    repeated key, the wrong shape, a blank summary or action, a date that no calendar has.
    """
    answer = read(raw, _Answer)
    if not answer.summary.strip():
        raise invalid("summary must not be blank")
    for index, action in enumerate(answer.actions):
        check_action(index, action.text, action.due_on)
        if action.reasons:  # they are ours to give
            raise invalid(f"actions[{index}] has a field that the schema does not know")
    return Summary(summary=answer.summary, actions=answer.actions)


def read(raw: str, shape: type[_Shape]) -> _Shape:
    """The object of that shape in a model's raw text, a code fence around it allowed. Raises as `parse_output`."""
    try:
        return shape.model_validate(_strict_json(raw))
    except ValidationError as error:
        raise invalid(_fault(error.errors(include_input=False, include_url=False)[0])) from None


def check_action(index: int, text: str, due_on: str | None) -> None:
    """What a shape cannot say of the action at `index`. Raises ItemFailure `invalid_output`."""
    if not text.strip():
        raise invalid(f"actions[{index}].text must not be blank")
    if due_on is not None and not _is_date(due_on):
        raise invalid(f"actions[{index}].due_on must be a date of the calendar")


def invalid(detail: str, condition: str = "output_schema_invalid") -> ItemFailure:
    """The failure that names the field and the rule, and no value."""
    return ItemFailure("invalid_output", detail, condition=condition)


def _no_json(detail: str) -> ItemFailure:
    return invalid(detail, "output_invalid_json")


def _strict_json(raw: str) -> Any:
    fenced = _FENCED.match(raw)
    try:
        return json.loads(
            fenced["body"] if fenced else raw,
            object_pairs_hook=_unique_keys,
            parse_constant=_no_constant,
            parse_float=_finite,
            parse_int=_storable_integer,
        )
    except RecursionError:
        raise _no_json("the output is nested too deeply") from None
    except ValueError:
        raise _no_json("the output is not one JSON object") from None


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) != len(pairs):
        raise _no_json("an object repeats a key")
    return unique


def _no_constant(_name: str) -> NoReturn:
    raise _no_json("NaN and Infinity are not JSON numbers")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise _no_json("a number is too large")
    return number


def _storable_integer(digits: str) -> int:
    # 20 characters hold every 64-bit integer; Python itself refuses to convert more than 4,300 digits.
    if len(digits) > 20 or abs(int(digits)) > _LARGEST_INTEGER:
        raise _no_json("a number is too large")
    return int(digits)


def _fault(error: ErrorDetails) -> str:
    place = error["loc"][:-1] if error["type"] == "extra_forbidden" else error["loc"]
    return f"{_path(place)} {_RULES.get(error['type'], 'does not fit the schema')}"


def _path(place: tuple[int | str, ...]) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).lstrip(".") or "the output"


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
