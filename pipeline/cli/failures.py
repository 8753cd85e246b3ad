"""How an error ends a command: what it prints, and with which exit code.

0 the job completed, failed rows included; 1 anything else; 2 wrong input, or a name that nothing has; 3 the key belongs
to another request; 4 `--strict`, and a document has no result; 130 interrupted.
"""

from typing import Any, Final

import typer

from pipeline.cli import screen
from pipeline.errors import BundleInvalid, CallfoldError, InvalidRequest, Problem

STRICT: Final = 4

_EXIT_CODES: Final = {"invalid_request": 2, "not_found": 2, "conflict": 3}


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


def _value(error: CallfoldError | typer.TyperException) -> dict[str, Any]:
    code = error.code if isinstance(error, CallfoldError) else "invalid_request"
    return {"error": code, "message": _message(error), "problems": _problems(error)}


def _message(error: CallfoldError | typer.TyperException) -> str:
    return str(error) if isinstance(error, CallfoldError) else " ".join(error.format_message().split())


def _problems(error: CallfoldError | typer.TyperException) -> tuple[Problem, ...]:
    return error.problems if isinstance(error, InvalidRequest | BundleInvalid) else ()
