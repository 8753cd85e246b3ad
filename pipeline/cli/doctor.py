"""`callfold doctor`: what works, what does not, and what to do about it."""

import typer

from pipeline.cli import arguments, checkup, door, screen


def doctor(as_json: arguments.Json = False) -> None:
    """Check every part of the stack. Exits with 1 when anything is wrong."""
    findings = checkup.all_parts(door.settings())
    if as_json:
        screen.answer([finding._asdict() for finding in findings])
    else:
        rows = ((finding.part, "ok" if finding.ok else "WRONG", finding.state) for finding in findings)
        screen.table(("part", "", "state"), rows)
        for finding in findings:
            if finding.to_do:
                screen.line(f"{finding.part}: {finding.to_do}")
    if not all(finding.ok for finding in findings):
        raise typer.Exit(1)
