"""One document's summary and actions, as a person reads them."""

from collections.abc import Iterable
from typing import Any

from pipeline.cli import screen


def show(summary: str, actions: Iterable[dict[str, Any]]) -> None:
    """Print the summary, and each action with the quotes that it stands on."""
    screen.line()
    for line in summary.split("\n"):
        screen.line(line)
    for action in actions:
        screen.line()
        owner = f", owner {action['owner']}" if action.get("owner") else ""
        review = f" [for review: {', '.join(action['reasons'])}]" if action["reasons"] else ""
        screen.line(f"{action['kind']}{owner}{review}: {action['text']}")
        for evidence in action["evidence"]:
            screen.line(f"  turn {evidence['turn']}: {evidence['quote']}")
