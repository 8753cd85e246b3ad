"""Where each account's lines stand in the two data files, so that a report by account never holds the lines themselves.

Eight bytes per line and a few hundred per account: a report over 100,000 calls fits into the memory of a small one.
"""

from array import array
from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from pipeline.domain.actions import ActionKind, Disposition


class ActionPlace(NamedTuple):
    """Which chapter of an account's report an action belongs to; sorts in the order of the report."""

    consent_scope: str
    retention_class: str
    kind: ActionKind


@dataclass(slots=True)
class Account:
    """One account's lines: the offsets of its rows, and of its actions by chapter."""

    # Quoted: an array takes a type parameter from Python 3.12 on only.
    calls: "array[int]" = field(default_factory=lambda: array("Q"))
    succeeded: int = 0
    failed: int = 0
    skipped: int = 0
    actions: dict[ActionPlace, "array[int]"] = field(default_factory=dict)
    proposed: int = 0
    review_only: int = 0

    def add_call(self, state: str, offset: int) -> None:
        """Take the row that begins at `offset`; `state` is a final one."""
        self.calls.append(offset)
        if state == "succeeded":
            self.succeeded += 1
        elif state == "failed":
            self.failed += 1
        else:
            self.skipped += 1

    def add_action(self, place: ActionPlace, disposition: Disposition, offset: int) -> None:
        """Take the merged action that begins at `offset`."""
        self.actions.setdefault(place, array("Q")).append(offset)
        if disposition == "proposed":
            self.proposed += 1
        else:
            self.review_only += 1


class Index:
    """All accounts, and the job's counts that come out of the same pass."""

    def __init__(self) -> None:
        self._accounts: dict[str, Account] = {}
        self.states: Counter[str] = Counter()
        self.error_codes: Counter[str] = Counter()

    def account(self, account_id: str) -> Account:
        """The account's lines, empty when it is new."""
        account = self._accounts.get(account_id)
        if account is None:
            account = self._accounts[account_id] = Account()
        return account

    def alphabetical(self) -> list[tuple[str, Account]]:
        """Accounts by name, small and capital letters together."""
        return sorted(self._accounts.items(), key=lambda pair: (pair[0].casefold(), pair[0]))
