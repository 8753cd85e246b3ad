"""`callfold up`: the whole stack in the background, for daily use."""

import sys
from dataclasses import asdict

from pipeline import stack
from pipeline.cli import arguments, door, flower, screen
from pipeline.errors import StackError


def up(as_json: arguments.Json = False) -> None:
    """Start servers, workers, beat and Flower in the background and keep them running."""
    settings = door.settings()
    begun = stack.up(settings, (sys.executable, "-P", "-m", "pipeline.cli.serve"))
    parts = stack.status(settings)
    watcher = next((part for part in parts if part.name == flower.NAME), None)
    if watcher is None:
        raise StackError("a `callfold run` holds the stack: `callfold up` once it has ended")
    address = flower.where(settings, watcher)
    if as_json:
        found = [asdict(part) for part in parts]
        screen.answer({"pid": begun.pid, "started": begun.started, "flower": address, "parts": found})
        return
    screen.line(f"{'up' if begun.started else 'already up'}: process {begun.pid}, data and logs in {settings.data_dir}")
    screen.table(("part", "pid", "address"), ((part.name, part.pid, part.address) for part in parts))
    screen.line()
    screen.line(f"Flower: {address}")
    screen.line("Next: `callfold submit PATH`; `callfold doctor` looks after it, `callfold down` stops it.")
