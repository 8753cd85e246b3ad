"""Text that may be JSON -> its value, bounded in depth and in number, with nothing in it that cannot be stored."""

import json
import re
from typing import Any

from pipeline.domain.text import storable
from pipeline.errors import ItemFailure

#: Ten hours of speech with a time for each word have 700,000; one costs up to 250 bytes of memory.
MAX_VALUES = 2_000_000

#: How JSON may begin and `[00:01:02] Name: ...` does not.
_MAYBE = re.compile(r"\s{0,1000}(?:\{\s{0,1000}[\"}]|\[\s{0,1000}[\[{\"\]])")
#: How nobody's words begin.
_SURELY = re.compile(r"\s{0,1000}(?:\[\s{0,1000})?\{\s{0,1000}\"")
#: An escape that may stand for half a surrogate pair or for NUL.
_UNSTORABLE = re.compile(r"\\u(?:[dD][89a-fA-F]|0000)")


def value_of(text: str) -> Any:
    """The value of a JSON object or list; None where the text is something else. NaN and the infinities become null.

    Raises ItemFailure(unreadable_input): it begins as JSON and is broken, too deep, has too many values, or gives a
    field two values, of which one would be lost.
    """
    if not _MAYBE.match(text):
        return None
    if text.count(",") + text.count("[") + text.count("{") > MAX_VALUES:
        raise _unreadable(f"more than {MAX_VALUES:,} values: submit one call per document")
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_null)
    except json.JSONDecodeError as error:
        if not _SURELY.match(text):
            return None
        if error.msg == "Extra data":
            raise _unreadable("several JSON values: submit documents one on each line, each with an id") from None
        raise _unreadable(f"broken at line {error.lineno}, column {error.colno}: export it again") from None
    except RecursionError:
        raise _unreadable("nested too deeply: export it again") from None
    except ValueError:  # an integer of thousands of digits
        raise _unreadable("a number is too long: export it again") from None
    return _cleaned(value) if _UNSTORABLE.search(text) else value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs) and any(fields[name] != value for name, value in pairs):
        raise _unreadable("a field has two values in one object: export it again")
    return fields


def _null(_constant: str) -> None:
    return None


def _unreadable(what: str) -> ItemFailure:
    return ItemFailure("unreadable_input", f"JSON, but {what}")


def _cleaned(value: Any) -> Any:
    """The same value with storable strings: an escape can write what a file cannot hold."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, list):
        return [_cleaned(part) for part in value]
    if isinstance(value, dict):
        return {storable(key): _cleaned(part) for key, part in value.items()}
    return value
