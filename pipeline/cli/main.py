"""`callfold`: the commands by name, each imported only when it is called, and the one place where errors end.

A command is the function, or the group, of its module's name: `pipeline/cli/run.py` has `run`.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

import typer
import typer.core
import typer.main

from pipeline.cli import failures
from pipeline.errors import CallfoldError

COMMANDS: Final = (
    "run",
    "summarize",
    "estimate",
    "submit",
    "jobs",
    "status",
    "show",
    "watch",
    "edit",
    "fail",
    "resume",
    "cancel",
    "retry",
    "export",
    "deliver",
    "verify",
    "nightly",
    "profiles",
    "tune",
    "up",
    "down",
    "doctor",
)


class Commands(typer.core.TyperGroup):
    """The group of all commands. Importing them all would cost every call a second."""

    def list_commands(self, _: Any) -> list[str]:
        """In the order in which one meets them."""
        return list(COMMANDS)

    def get_command(self, _: Any, cmd_name: str) -> Any:
        """The command by its name, None where there is none."""
        if cmd_name not in COMMANDS:
            return None
        named = getattr(import_module(f"pipeline.cli.{cmd_name}"), cmd_name)
        if isinstance(named, typer.Typer):
            return typer.main.get_command(named)
        command = typer.Typer(add_completion=False)
        command.command(cmd_name)(named)
        return typer.main.get_command(command)

    def main(self, args: Sequence[str] | None = None, *rest: Any, **named: Any) -> Any:
        """Run a command and exit with its code; an error is one clear line, or one JSON value with `--json`."""
        arguments = list(sys.argv[1:] if args is None else args)
        named["standalone_mode"] = False
        try:
            code = super().main(arguments, *rest, **named)
        except (CallfoldError, typer.TyperException) as error:
            code = _ended(error, arguments)
        except Exception as error:  # noqa: BLE001 - a traceback may quote a document or a password
            code = _ended(failures.unexpected(error), arguments)
        sys.exit(code if isinstance(code, int) else 0)


def _ended(error: CallfoldError | typer.TyperException, arguments: Sequence[str]) -> int:
    failures.report(error, as_json="--json" in arguments)
    return failures.exit_code(error)


app = typer.Typer(
    cls=Commands,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def callfold() -> None:
    """Turn a night's sales calls into one reviewed set of CRM actions."""
