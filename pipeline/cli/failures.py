"""How an error ends a command: what it prints, and with which exit code.

0 the job completed, failed rows included; 1 anything else; 2 wrong input, or a name that nothing has; 3 the key belongs
to another request or export; 4 `--strict` or `summarize`, and a document has no result; 5 `summarize`, and the document
needs a job; 130 interrupted.
"""

import os
import traceback
from typing import Any, Final

import typer

from pipeline.cli import screen
from pipeline.errors import BundleInvalid, CallfoldError, InvalidRequest, Problem

CANCELLED: Final = 1
NO_RESULT: Final = 4

_EXIT_CODES: Final = {
    "invalid_request": 2,
    "not_found": 2,
    "conflict": 3,
    "key-reused-for-other-export": 3,
    "use_a_job": 5,
}


def exit_code(error: CallfoldError | typer.TyperException) -> int:
    """The code for an error of ours, or of the command line's parser."""
    return error.exit_code if isinstance(error, typer.TyperException) else _EXIT_CODES.get(error.code, 1)


def report(error: CallfoldError | typer.TyperException, *, as_json: bool) -> None:
    """One line on standard error, a list of problems one line each; with `as_json` one value on standard output."""
    if as_json:
        screen.answer(_value(error))
        return
    for line in [str(problem) for problem in _problems(error)] or [_message(error)]:
        screen.note(f"callfold: {line}")


def unexpected(error: Exception) -> CallfoldError:
    """What no command foresaw, as an error of ours: the system's word with its place, or our bug by type and line.

    A traceback would show a library's words, and those may quote a customer's document or a URL with its password.
    """
    if isinstance(error, OSError) and error.strerror:
        place = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
        return CallfoldError(f"{place}{error.strerror}")
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return CallfoldError(f"internal error, {type(error).__name__} at {frame.filename}:{frame.lineno}: report this line")


def _value(error: CallfoldError | typer.TyperException) -> dict[str, Any]:
    code = error.code if isinstance(error, CallfoldError) else "invalid_request"
    return {"error": code, "message": _message(error), "problems": _problems(error)}


def _message(error: CallfoldError | typer.TyperException) -> str:
    return str(error) if isinstance(error, CallfoldError) else " ".join(error.format_message().split())


def _problems(error: CallfoldError | typer.TyperException) -> tuple[Problem, ...]:
    return error.problems if isinstance(error, InvalidRequest | BundleInvalid) else ()
