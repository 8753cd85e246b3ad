"""`report.md`: the bundle for a person. The job, all accounts in a table, then each account's calls and actions.

Lines are read again from the two data files just written, by the index of where they stand, and written at once: the
memory does not grow with the words.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from operator import attrgetter
from pathlib import Path
from typing import Any, BinaryIO, Final

from pydantic_core import from_json

from exports.advice import advice, meaning
from exports.durable import HashedFile
from exports.index import Account, ActionPlace, Index
from exports.markdown import escape
from pipeline.domain.results import ExportHeader

_KINDS: Final = {
    "follow_up": "Follow-ups",
    "record_objection": "Objections",
    "update_stage": "Stage changes",
}


def write_report(out: HashedFile, header: ExportHeader, index: Index, manifest: Path, actions: Path) -> None:
    """Write the report of the two files that `index` points into. The same input gives the same bytes."""
    accounts = index.alphabetical()
    cancelled = header.job_state == "cancelled"
    _write(out, _title(header, index))
    _write(out, _error_table(index))
    _write(out, _account_table(accounts))
    with manifest.open("rb") as rows, actions.open("rb") as merged:
        for account_id, account in accounts:
            _write(out, _calls(account_id, account, rows, with_actions=cancelled))
            _write(out, _actions(account, merged))


def _write(out: HashedFile, lines: Iterable[str]) -> None:
    left = iter(lines)
    while batch := list(islice(left, 1_000)):
        out.write("\n".join((*batch, "")).encode())


def _title(header: ExportHeader, index: Index) -> Iterator[str]:
    states = index.states
    yield f"# Sales calls of job {escape(header.job_id)}"
    yield ""
    yield f"- State: {header.job_state}"
    yield (
        f"- Calls: {header.total} ({states['succeeded']} succeeded, {states['failed']} failed, "
        f"{states['skipped']} skipped)"
    )
    yield f"- Merged actions: {header.merged_rows}"
    yield f"- Key: {escape(header.idempotency_key)}"
    yield f"- Export: {escape(header.export_id)}, version {header.export_version}"
    if header.supersedes is not None:
        yield f"- Supersedes export: {escape(header.supersedes)}; what changed since stands in diff.json"
    yield ""
    if header.job_state == "cancelled":
        yield "The job was cancelled: nothing was merged, and whatever was found may only be reviewed."
    else:
        yield "Nothing here changes a CRM by itself. Turns are counted from 0, as in the manifest."


def _error_table(index: Index) -> Iterator[str]:
    if not index.error_codes:
        return
    yield from ("", "## Calls without a result", "", "| Code | Calls | What to do |", "|---|---:|---|")
    for code, count in sorted(index.error_codes.items()):
        yield f"| {escape(code)} | {count} | {advice(code)} |"


def _account_table(accounts: list[tuple[str, Account]]) -> Iterator[str]:
    yield from ("", "## Accounts", "")
    yield "| Account | Calls | Succeeded | Failed | Skipped | Actions proposed | For review only |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for name, account in accounts:
        yield (
            f"| {escape(name)} | {len(account.calls)} | {account.succeeded} | {account.failed} | {account.skipped} "
            f"| {account.proposed} | {account.review_only} |"
        )


def _calls(account_id: str, account: Account, rows: BinaryIO, *, with_actions: bool) -> Iterator[str]:
    yield from ("", f"## Account {escape(account_id)}", "", "### Calls", "")
    for row in _read(rows, account.calls):
        yield from _call(row)
        if with_actions:
            for action in row["actions"]:
                yield from _action(action, indent="  ")


def _call(row: dict[str, Any]) -> Iterator[str]:
    name = f"- **{escape(row['document_id'])}**"
    code = row["error_code"]
    if code is None:
        yield name + _effort(row)
        yield from (f"  - {escape(line)}" for line in (row["summary"] or "").splitlines() if line.strip())
    else:
        detail = f": {escape(row['error_detail'])}" if row["error_detail"] else ""
        yield f"{name} {row['state']}{_effort(row)}, {escape(code)}{detail}"
        yield f"  - What to do: {advice(code)}"
    for warning in row["warnings"]:
        place = f" at {escape(warning['place'])}" if warning["place"] else ""
        yield f"  - Warning: {escape(warning['code'])}{place}"


def _effort(row: dict[str, Any]) -> str:
    """A clean success and one after five attempts look different."""
    return f" after {row['attempt_count']} attempts" if row["attempt_count"] > 1 else ""


def _actions(account: Account, merged: BinaryIO) -> Iterator[str]:
    places = sorted(account.actions)
    for (scope, retention), group in groupby(places, key=attrgetter("consent_scope", "retention_class")):
        chapters = list(group)
        yield from ("", f"### Actions{_scope(scope, retention)}", "")
        yield from _completeness(_first(merged, account, chapters[0]))
        for place in chapters:
            yield from ("", f"#### {_KINDS[place.kind]}", "")
            for action in _read(merged, account.actions[place]):
                yield from _action(action, indent="")


def _scope(consent_scope: str, retention_class: str) -> str:
    if consent_scope == retention_class == "default":
        return ""
    return f" (consent scope {escape(consent_scope)}, retention class {escape(retention_class)})"


def _first(merged: BinaryIO, account: Account, place: ActionPlace) -> dict[str, Any]:
    return next(_read(merged, account.actions[place][:1]))


def _completeness(action: dict[str, Any]) -> Iterator[str]:
    missing = action["group"]["missing"]
    if not missing:
        yield "Complete: every call of this group gave a result."
        return
    yield f"Incomplete: {len(missing)} of this group's calls gave no result."
    yield ""
    for gap in missing:
        yield f"- Missing: {escape(gap['document_id'])} ({escape(gap['error_code'])}: {advice(gap['error_code'])})"


def _action(action: dict[str, Any], indent: str) -> Iterator[str]:
    yield f"{indent}- **{escape(action['text'])}**"
    for line in (*_facts(action), *_quotes(action)):
        yield f"{indent}  - {line}"


def _facts(action: dict[str, Any]) -> Iterator[str]:
    yield f"Owner: {escape(action['owner']) if action['owner'] else 'nobody named'}"
    due = [escape(words) for words in (action["due_text"], action["due_on"]) if words]
    if due:
        yield f"Due: {', '.join(due)}"
    if action["proposed_stage"]:
        yield f"Proposed stage: {escape(action['proposed_stage'])}"
    if action["opportunity_id"]:
        yield f"Opportunity: {escape(action['opportunity_id'])}"
    yield _disposition(action)
    if action.get("superseded_by"):
        yield f"Superseded by {escape(action['superseded_by'])}"
    yield f"Key: {escape(action['action_key'])}"


def _disposition(action: dict[str, Any]) -> str:
    if action["disposition"] == "proposed":
        return "Proposed"
    reasons = "; ".join(escape(meaning(reason)) for reason in action["reasons"])
    return f"For review only: {reasons}"


def _quotes(action: dict[str, Any]) -> Iterator[str]:
    for quote in action["evidence"]:
        yield f"\u201c{escape(quote['quote'])}\u201d ({escape(quote['document_id'])}, turn {quote['turn']})"


def _read(lines: BinaryIO, offsets: Iterable[int]) -> Iterator[dict[str, Any]]:
    for offset in offsets:
        lines.seek(offset)
        yield from_json(lines.readline())
