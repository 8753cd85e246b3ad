"""The list of what is wrong with a bundle, each with its place; bounded, since a hostile bundle is wrong everywhere."""

from typing import Final

from pipeline.errors import Problem

MOST: Final = 1_000


class TooManyFindings(Exception):
    """Nobody reads on after so many; `verify` ends the check."""


class Findings:
    """Collects problems. `add` raises TooManyFindings when the list is full."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def add(self, place: str, message: str) -> None:
        """Note one problem: where, and what is wrong. Never a customer's words."""
        if len(self.problems) >= MOST:
            self.problems.append(Problem("bundle", f"the check stopped after {MOST} problems"))
            raise TooManyFindings
        self.problems.append(Problem(place, message))
