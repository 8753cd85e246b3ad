"""`diff.json`: what changed since the export that this one supersedes. What it does not name has the same bytes.

    rows            documents with another result, or that were worked on again: from which state and code to which
    dispositions    actions of all other rows that stand otherwise now; `replaces` where they got an older key
    added, removed, changed     merged actions by key; the group apart, whose gaps follow from the rows
    replaced        keys that went into another action's when two united

Both sides are read once, side by side: the memory is that of a group. One entry a line, so that a file of any size can
be checked line by line.
"""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import groupby, zip_longest
from operator import itemgetter
from tempfile import SpooledTemporaryFile
from typing import IO, Any, Final, Literal, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import from_json, to_json

from exports.durable import HashedFile
from pipeline.domain.actions import Disposition
from pipeline.domain.documents import Id
from pipeline.domain.groups import MergeGroup
from pipeline.domain.results import ExportHeader, ManifestRecord
from pipeline.errors import ExportError

#: In the order of the file.
SECTIONS: Final = ("rows", "dispositions", "added", "removed", "changed", "replaced")

#: What may differ in the action of a row whose result is the same.
_STANDING: Final = ("action_key", "disposition", "reasons")
#: What differs in any action of another export, or follows from the rows.
_BESIDE: Final = ("job_id", "export_id", "group")

_IN_MEMORY: Final = 1 << 20


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class DiffHeader(_Frozen):
    """The beginning of the file."""

    schema_version: Literal[1] = 1
    job_id: str
    export_id: str
    supersedes: str


class End(_Frozen):
    """How a document ended."""

    state: Literal["succeeded", "failed", "skipped"]
    error_code: str | None


class RowChange(_Frozen):
    """A row with another result, or one that was come by anew."""

    document_id: Id
    from_: End = Field(alias="from")
    to: End


class Standing(_Frozen):
    """What a person is told to do with an action, and why."""

    disposition: Disposition
    reasons: tuple[str, ...]


class DispositionChange(_Frozen):
    """An action of a row that was carried over; `replaces` is its key before, where that is another."""

    document_id: Id
    action_key: str
    from_: Standing = Field(alias="from")
    to: Standing
    replaces: str | None = None


class Replaced(_Frozen):
    """A key that stood for an action before, and the key that stands for it now."""

    action_key: str
    by: str


class Content(NamedTuple):
    """What an export is made of: its records by position, its merged actions as JSON texts in their order."""

    records: Iterable[ManifestRecord]
    actions: Iterable[str]


class Difference:
    """Lets an export's records and actions through, and keeps what differs from the one before. Leave it to free it."""

    def __init__(self, before: Content) -> None:
        self._before = before
        self._files = ExitStack()
        self._sections = {name: self._spool() for name in SECTIONS}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._files.close()

    def rows(self, records: Iterable[ManifestRecord]) -> Iterator[ManifestRecord]:
        """The records, each held against the one of the same position. Raises ExportError where they do not pair."""
        for record, old in zip_longest(records, self._before.records):
            if record is None or old is None or record.document_id != old.document_id:
                raise ExportError("the superseded export has other documents: a successor has its predecessor's")
            if record != old:
                self._compare_rows(old, record)
            yield record

    def actions(self, actions: Iterable[str]) -> Iterator[str]:
        """The merged actions, each group held against the one before; both come in the order of their groups."""
        earlier = _groups(self._before.actions)
        old = next(earlier, None)
        for new in _groups(actions):
            while old is not None and old.group < new.group:
                self._compare_groups(old, None)
                old = next(earlier, None)
            same = old is not None and old.group == new.group
            self._compare_groups(old if same else None, new)
            old = next(earlier, None) if same else old
            yield from new.texts
        while old is not None:
            self._compare_groups(old, None)
            old = next(earlier, None)

    def write(self, out: HashedFile, header: ExportHeader) -> None:
        """Write the file, once all has been let through. The same input gives the same bytes."""
        head = DiffHeader(job_id=header.job_id, export_id=header.export_id, supersedes=header.supersedes or "")
        out.write(head.model_dump_json().encode()[:-1])
        for name, section in self._sections.items():
            out.write(b',"%b":[\n' % name.encode())
            section.seek(0)
            for number, line in enumerate(section):
                out.write(b",\n" * bool(number) + line[:-1])
            out.write(b"\n" * bool(section.tell()) + b"]")
        out.write(b"}\n")

    def _spool(self) -> IO[bytes]:
        return self._files.enter_context(SpooledTemporaryFile(max_size=_IN_MEMORY))

    def _note(self, section: str, entry: BaseModel | str) -> None:
        text = to_json(entry) if isinstance(entry, str) else entry.model_dump_json(by_alias=True).encode()
        self._sections[section].write(text + b"\n")

    def _compare_rows(self, old: ManifestRecord, new: ManifestRecord) -> None:
        was, now = from_json(old.actions_json), from_json(new.actions_json)
        result_is_the_same = new._replace(actions_json=old.actions_json) == old
        if not result_is_the_same or list(map(_fixed, was)) != list(map(_fixed, now)):
            self._note("rows", _row_change(old, new))
            return
        for before, after in zip(was, now, strict=True):
            if before != after:
                self._note("dispositions", _disposition_change(new.document_id, before, after))

    def _compare_groups(self, old: "_Group | None", new: "_Group | None") -> None:
        was, now = _by_key(old), _by_key(new)
        for key, action in now.items():
            if key not in was:
                self._note("added", key)
            elif _content(action) != _content(was[key]):
                self._note("changed", key)
            known = was[key]["replaces"] if key in was else ()
            for other in action["replaces"]:
                if other not in known:
                    self._note("replaced", Replaced(action_key=other, by=key))
        replaced = {key for action in now.values() for key in action["replaces"]}
        for key in was:
            if key not in now and key not in replaced:
                self._note("removed", key)


class _Group(NamedTuple):
    group: MergeGroup
    texts: list[str]
    actions: list[dict[str, Any]]


def _groups(texts: Iterable[str]) -> Iterator[_Group]:
    parsed = ((text, *_parsed(text)) for text in texts)
    for group, members in groupby(parsed, key=itemgetter(2)):
        pairs = list(members)
        yield _Group(group, [text for text, _, _ in pairs], [action for _, action, _ in pairs])


def _parsed(text: str) -> tuple[dict[str, Any], MergeGroup]:
    try:
        action = from_json(text)
        return action, MergeGroup(*(action["group"][name] for name in MergeGroup._fields))
    except (ValueError, KeyError, TypeError):
        raise ExportError("a merged action is not the JSON of a merged action") from None


def _by_key(group: _Group | None) -> dict[str, dict[str, Any]]:
    return {action["action_key"]: action for action in group.actions} if group else {}


def _content(action: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in action.items() if name not in _BESIDE}


def _fixed(action: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in action.items() if name not in _STANDING}


def _row_change(old: ManifestRecord, new: ManifestRecord) -> RowChange:
    return RowChange.model_validate({"document_id": new.document_id, "from": _end(old), "to": _end(new)})


def _end(record: ManifestRecord) -> dict[str, str | None]:
    return {"state": record.state, "error_code": record.error_code}


def _disposition_change(document_id: str, before: dict[str, Any], after: dict[str, Any]) -> DispositionChange:
    old_key, key = before["action_key"], after["action_key"]
    return DispositionChange.model_validate(
        {
            "document_id": document_id,
            "action_key": key,
            "from": _standing(before),
            "to": _standing(after),
            "replaces": None if old_key == key else old_key,
        }
    )


def _standing(action: dict[str, Any]) -> dict[str, Any]:
    return {"disposition": action["disposition"], "reasons": action["reasons"]}
