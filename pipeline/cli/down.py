"""`callfold down`: stop what `up` started."""

from pipeline import stack
from pipeline.cli import arguments, door, screen


def down(as_json: arguments.Json = False) -> None:
    """Stop workers and servers, in order. Data and jobs stay."""
    was_running = stack.down(door.settings())
    if as_json:
        screen.answer({"stopped": was_running})
        return
    screen.line("stopped; the jobs stay, `callfold up` continues them" if was_running else "nothing was running")
