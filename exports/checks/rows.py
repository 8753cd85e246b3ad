"""The manifest: exactly one row per input, each sound in itself, together what the seal counts.

Of each document its account, state and code are kept, of each action key its place: the merged set is
held against them. Where there is a diff to come, each action's standing is kept too, as a number.
"""

from collections import Counter
from sys import intern
from typing import NamedTuple

from exports.checks.actions import check_action
from exports.checks.findings import Findings
from exports.checks.parse import parse
from exports.checks.quotes import QuoteCheck
from exports.diff import Standing
from exports.seal import MANIFEST, Seal
from pipeline.domain.actions import CrmAction, Disposition
from pipeline.domain.results import ManifestRow


class Document(NamedTuple):
    """What the rows tell of one document."""

    account_id: str
    state: str
    error_code: str | None


class RowAction(NamedTuple):
    """The line where an action key first stands in the manifest, and with which disposition."""

    line: int
    disposition: Disposition

    @property
    def place(self) -> str:
        """As findings name it."""
        return f"{MANIFEST}:{self.line}"


class RowCheck:
    """Takes the manifest's lines one by one; `finish` reports what only the whole can tell."""

    def __init__(self, seal: Seal | None, quotes: QuoteCheck, findings: Findings) -> None:
        self._seal = seal
        self._quotes = quotes
        self._findings = findings
        self._due = 0
        self._states: Counter[str] = Counter()
        self._error_codes: Counter[str] = Counter()
        self._quoted_elsewhere: dict[tuple[str, str], str] = {}
        self.lines = 0
        self.documents: dict[str, Document] = {}
        self.actions: dict[str, RowAction] = {}
        self._standings: Counter[int] = Counter()

    def take(self, number: int, line: bytes) -> None:
        """Check the line that is number `number`, counted from 1."""
        place = f"{MANIFEST}:{number}"
        self.lines += 1
        row = parse(ManifestRow, line, place, self._findings)
        if row is None:
            self._due += 1
            return
        place = f"{place} (document {row.document_id})"
        self._check_place(row, place)
        self._check_result(row, place)
        if row.state == "succeeded":
            self._quotes.expect(row.document_id, place)
        for action in row.actions:
            self._check_action(row, action, number, place)

    def finish(self) -> None:
        """Hold the whole manifest against the seal and quotes against documents that came later."""
        for (document_id, account_id), place in self._quoted_elsewhere.items():
            document = self.documents.get(document_id)
            if document is None or document.account_id != account_id:
                self._findings.add(place, f"quotes document {document_id}, which is no row of its account")
        if self._seal is not None:
            self._hold_against(self._seal)

    def take_standing(self, document_id: str, action_key: str, standing: Standing) -> bool:
        """Whether the document has an action of that key which stands so; each action answers once."""
        number = _number(document_id, action_key, standing.disposition, standing.reasons)
        if not self._standings[number]:
            return False
        self._standings[number] -= 1
        return True

    def _check_place(self, row: ManifestRow, place: str) -> None:
        if row.position != self._due:
            self._findings.add(place, f"has position {row.position} where {self._due} was due")
        self._due = row.position + 1
        if row.document_id in self.documents:
            self._findings.add(place, "its document has another row before")
        # Interned: a hundred thousand rows name few accounts, states and codes.
        code = None if row.error_code is None else intern(row.error_code)
        self.documents[row.document_id] = Document(intern(row.account_id), intern(row.state), code)
        seal = self._seal
        if seal is not None and (row.job_id, row.export_id, row.export_version) != (
            seal.job_id,
            seal.export_id,
            seal.export_version,
        ):
            self._findings.add(place, "its job_id, export_id or export_version is not the seal's")

    def _check_result(self, row: ManifestRow, place: str) -> None:
        self._states[row.state] += 1
        if row.error_code is not None:
            self._error_codes[row.error_code] += 1
        if (row.state == "succeeded") != (row.error_code is None):
            self._findings.add(place, f"is {row.state} {'with an' if row.error_code else 'without'} error_code")
        if row.state != "succeeded" and row.actions:
            self._findings.add(place, f"has actions though it is {row.state}")

    def _check_action(self, row: ManifestRow, action: CrmAction, number: int, place: str) -> None:
        check_action(action, place, self._findings)
        if row.document_id not in action.source_document_ids:
            self._findings.add(place, "an action does not name the row's document as its source")
        if self._seal is not None and self._seal.job_state == "cancelled" and action.disposition != "review_only":
            self._findings.add(place, "an action of a cancelled job is proposed: it may only be reviewed")
        known = self.actions.setdefault(action.action_key, RowAction(number, action.disposition))
        if known.disposition != action.disposition:
            self._findings.add(place, f"an action has another disposition than in {known.place}")
        if self._seal is not None and self._seal.supersedes is not None:
            number = _number(row.document_id, action.action_key, action.disposition, action.reasons)
            self._standings[number] += 1
        for quote in action.evidence:
            if quote.document_id != row.document_id:
                self._quoted_elsewhere.setdefault((quote.document_id, row.account_id), place)
        self._quotes.check(action.evidence, place)

    def _hold_against(self, seal: Seal) -> None:
        counts = seal.counts
        self._compare("rows.manifest", seal.rows.manifest, self.lines)
        self._compare("counts.total", counts.total, self.lines)
        self._compare("counts.succeeded", counts.succeeded, self._states["succeeded"])
        self._compare("counts.failed", counts.failed, self._states["failed"])
        self._compare("counts.skipped", counts.skipped, self._states["skipped"])
        if seal.error_codes != self._error_codes:
            self._findings.add(MANIFEST, "its error codes are not those that the seal counts")

    def _compare(self, field: str, sealed: int, found: int) -> None:
        if sealed != found:
            self._findings.add(MANIFEST, f"the seal says {field} {sealed}, the rows say {found}")


def _number(*standing: object) -> int:
    """What is said of an action, in one word of memory. Python salts its hashes: nobody can aim at a collision."""
    return hash(standing)
