"""The diff to the superseded export: well formed line by line, and what it says of now is what rows and actions say.

It names each thing once: a document has another result or its actions stand otherwise, a key came, went or changed.
"""

from typing import Final, Literal

from pydantic import BaseModel

from exports.checks.actions import is_key
from exports.checks.findings import Findings
from exports.checks.merged import MergedCheck
from exports.checks.parse import parse
from exports.checks.rows import RowCheck
from exports.diff import SECTIONS, DiffHeader, DispositionChange, Replaced, RowChange
from exports.seal import DIFF, Seal

#: What an entry is; in the other sections a key.
_ENTRIES: Final[dict[str, type[BaseModel]]] = {
    "rows": RowChange,
    "dispositions": DispositionChange,
    "replaced": Replaced,
}
_BEGINNING: Final = b',"%b":[' % SECTIONS[0].encode()
#: The line that ends each section.
_ENDINGS: Final = (*(b'],"%b":[' % name.encode() for name in SECTIONS[1:]), b"]}")


class DiffCheck:
    """Takes the lines one by one, after all rows and merged actions; `finish` reports a file that breaks off."""

    def __init__(self, seal: Seal, rows: RowCheck, merged: MergedCheck, findings: Findings) -> None:
        self._seal = seal
        self._rows = rows
        self._merged = merged
        self._findings = findings
        #: how many sections have ended
        self._section = 0
        #: the hashes of the documents and keys that were named
        self._named: set[int] = set()
        self._due: Literal["beginning", "entry", "ending", "either", "nothing"] = "beginning"

    def take(self, number: int, line: bytes) -> None:
        """Check the line that is number `number`, counted from 1."""
        place = f"{DIFF}:{number}"
        if self._due == "beginning":
            self._begin(line, place)
        elif self._due in {"either", "ending"} and line == _ENDINGS[self._section]:
            self._section += 1
            self._due = "either" if self._section < len(SECTIONS) else "nothing"
        elif self._due in {"either", "entry"}:
            self._due = "entry" if line.endswith(b",") else "ending"
            self._check(SECTIONS[self._section], line.removesuffix(b","), place)
        else:
            self._findings.add(place, "is a line too much")

    def finish(self) -> None:
        """Report what only the whole can tell."""
        if self._due != "nothing":
            self._findings.add(DIFF, "breaks off before its end")

    def _begin(self, line: bytes, place: str) -> None:
        self._due = "either"
        if not line.endswith(_BEGINNING):
            self._findings.add(place, "does not begin as a diff does")
            return
        header = parse(DiffHeader, line.removesuffix(_BEGINNING) + b"}", place, self._findings)
        seal = self._seal
        if header is not None and (header.job_id, header.export_id, header.supersedes) != (
            seal.job_id,
            seal.export_id,
            seal.supersedes,
        ):
            self._findings.add(place, "its job_id, export_id or supersedes is not the seal's")

    def _check(self, section: str, line: bytes, place: str) -> None:
        model = _ENTRIES.get(section)
        if model is None:
            self._check_key(section, line, place)
            return
        match parse(model, line, place, self._findings):
            case RowChange() as change:
                self._check_row(change, place)
            case DispositionChange() as change:
                self._check_disposition(change, place)
            case Replaced() as change:
                self._check_replaced(change, place)

    def _check_key(self, section: str, line: bytes, place: str) -> None:
        key = line[1:-1].decode(errors="replace")
        if line != b'"%b"' % key.encode() or not is_key(key):
            self._findings.add(place, "is not an action key of the cf1 scheme")
        elif (key in self._merged.keys) == (section == "removed"):
            self._findings.add(place, f"the action key {key} is {section} and {self._stands(key)}")
        else:
            self._name("action key", key, place)

    def _check_row(self, change: RowChange, place: str) -> None:
        document = self._rows.documents.get(change.document_id)
        if document is None or (document.state, document.error_code) != (change.to.state, change.to.error_code):
            self._findings.add(place, f"document {change.document_id} did not end so")
        else:
            self._name("document", change.document_id, place)

    def _check_disposition(self, change: DispositionChange, place: str) -> None:
        document_id = change.document_id
        if document_id not in self._rows.documents:
            self._findings.add(place, f"names document {document_id}, which is no row")
        elif hash(("document", document_id)) in self._named:
            self._findings.add(place, f"document {document_id} has another result: its actions are no news")
        elif not self._rows.take_standing(document_id, change.action_key, change.to):
            self._findings.add(place, f"an action of document {document_id} does not stand so, or was named before")

    def _check_replaced(self, change: Replaced, place: str) -> None:
        for key, stands in ((change.action_key, False), (change.by, True)):
            if not is_key(key):
                self._findings.add(place, "an action key is not of the cf1 scheme")
            elif (key in self._merged.keys) != stands:
                self._findings.add(place, f"the action key {key} was replaced wrongly: it {self._stands(key)}")
        if is_key(change.action_key):
            self._name("action key", change.action_key, place)

    def _name(self, kind: str, name: str, place: str) -> None:
        number = hash((kind, name))
        if number in self._named:
            self._findings.add(place, f"the {kind} {name} was named before")
        self._named.add(number)

    def _stands(self, key: str) -> str:
        return "stands in the merged set" if key in self._merged.keys else "is not in the merged set"
