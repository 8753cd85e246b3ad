"""The merged set: each key once, sources and quotes inside one account, groups that name what they miss."""

from typing import NamedTuple

from exports.checks.actions import check_action, shown
from exports.checks.findings import Findings
from exports.checks.parse import parse
from exports.checks.quotes import QuoteCheck
from exports.checks.rows import RowCheck
from exports.seal import ACTIONS, Seal
from pipeline.domain.actions import Group, MergedAction, Missing
from pipeline.domain.groups import MergeGroup


class _SeenGroup(NamedTuple):
    place: str
    group: Group
    key: MergeGroup


class MergedCheck:
    """Takes the lines of the merged set one by one, after all rows; `finish` reports what only the whole can tell."""

    def __init__(self, seal: Seal | None, rows: RowCheck, quotes: QuoteCheck, findings: Findings) -> None:
        self._seal = seal
        self._rows = rows
        self._quotes = quotes
        self._findings = findings
        self.keys: set[str] = set()
        self._superseding: dict[str, str] = {}
        self._groups: dict[MergeGroup, _SeenGroup] = {}
        self._group_of: dict[str, MergeGroup] = {}
        self.lines = 0

    def take(self, number: int, line: bytes) -> None:
        """Check the line that is number `number`, counted from 1."""
        place = f"{ACTIONS}:{number}"
        self.lines += 1
        action = parse(MergedAction, line, place, self._findings)
        if action is None:
            return
        if self._seal is not None and (action.job_id, action.export_id) != (self._seal.job_id, self._seal.export_id):
            self._findings.add(place, "its job_id or export_id is not the seal's")
        check_action(action, place, self._findings)
        self._check_key(action, place)
        self._check_sources(action, self._check_group(action.group, place), place)
        self._quotes.check(action.evidence, place)

    def finish(self) -> None:
        """Hold the keys against each other and against the rows, and the count against the seal."""
        for key, place in self._superseding.items():
            if key not in self.keys:
                self._findings.add(place, f"superseded_by names the key {shown(key)}, which no action has")
        for key, row_action in self._rows.actions.items():
            if key not in self.keys and not self._is_cancelled:
                self._findings.add(row_action.place, f"the action key {shown(key)} is missing in {ACTIONS}")
        if self._seal is not None and self._seal.rows.actions != self.lines:
            said = self._seal.rows.actions
            self._findings.add(ACTIONS, f"the seal says rows.actions {said}, the file has {self.lines}")
        if self._is_cancelled and self.lines:
            self._findings.add(ACTIONS, "a cancelled job has no merged actions")

    @property
    def _is_cancelled(self) -> bool:
        return self._seal is not None and self._seal.job_state == "cancelled"

    def _check_key(self, action: MergedAction, place: str) -> None:
        key = action.action_key
        if key in self.keys:
            self._findings.add(place, f"the action key {shown(key)} stands here twice")
        self.keys.add(key)
        if action.superseded_by is not None:
            self._superseding.setdefault(action.superseded_by, place)
        row_action = self._rows.actions.get(key)
        if row_action is None:
            self._findings.add(place, "no row has this action")
        elif row_action.disposition != action.disposition:
            self._findings.add(place, f"has another disposition than in {row_action.place}")

    def _check_sources(self, action: MergedAction, group: MergeGroup, place: str) -> None:
        if not action.source_document_ids:
            self._findings.add(place, "names no source document")
        for document_id in dict.fromkeys(action.source_document_ids):
            self._check_member(document_id, group, place)
            document = self._rows.documents.get(document_id)
            if document is not None and document.state != "succeeded":
                self._findings.add(place, f"its source, document {document_id}, is {document.state}")
        for document_id in {quote.document_id for quote in action.evidence} - set(action.source_document_ids):
            self._check_member(document_id, group, place)

    def _check_group(self, group: Group, place: str) -> MergeGroup:
        """The group's key, one object for all its actions."""
        key = group.key
        seen = self._groups.get(key)
        if seen is None:
            self._groups[key] = _SeenGroup(place, group, key)
            self._check_gaps(group, key, place)
            return key
        if seen.group != group:
            self._findings.add(place, f"its group says otherwise than in {seen.place} what is missing")
        return seen.key

    def _check_gaps(self, group: Group, key: MergeGroup, place: str) -> None:
        if group.complete == bool(group.missing):
            self._findings.add(place, "its group is either complete or misses documents")
        if len({gap.document_id for gap in group.missing}) < len(group.missing):
            self._findings.add(place, "its group misses a document twice")
        for gap in group.missing:
            self._check_missing(gap, key, place)

    def _check_missing(self, gap: Missing, group: MergeGroup, place: str) -> None:
        self._check_member(gap.document_id, group, place)
        document = self._rows.documents.get(gap.document_id)
        if document is not None and document.error_code != gap.error_code:
            self._findings.add(place, f"its group misses document {gap.document_id} for another reason than its row")

    def _check_member(self, document_id: str, group: MergeGroup, place: str) -> None:
        document = self._rows.documents.get(document_id)
        if document is None or document.account_id != group.account_id:
            self._findings.add(place, f"names document {document_id}, which is no row of its account")
        elif self._group_of.setdefault(document_id, group) != group:
            self._findings.add(place, f"document {document_id} stands in two merge groups")
