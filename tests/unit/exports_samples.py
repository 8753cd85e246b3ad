"""One small job, merged by the real rules: what the ledger would hand to a freeze."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from pydantic import TypeAdapter

from exports.bundle import write_bundle
from exports.diff import Content
from exports.seal import Seal
from pipeline.domain.actions import CrmAction, FoundAction, MergedAction, Missing, Quote
from pipeline.domain.documents import Transcript, Turn
from pipeline.domain.evidence import Haystack
from pipeline.domain.groups import MergeGroup
from pipeline.domain.merge import Context, Contribution, Merged, alone, merge
from pipeline.domain.results import ExportHeader, ManifestRecord
from pipeline.domain.verify_quotes import STAGE_CHANGE

JOB = "0d5f3a52-0000-4000-8000-000000000001"
EXPORT = "5b1c7a80-0000-5000-8000-000000000002"
SUCCESSOR = "0d5f3a52-0000-4000-8000-000000000004"
NEXT_EXPORT = "5b1c7a80-0000-5000-8000-000000000005"
# Before the clock of any disk, so that no folder that lives now looks dead.
NOW = datetime(2020, 12, 1, 3, 0, tzinfo=UTC)

SAID = {
    "acme/monday.txt": [
        "Hello, this is Ann.",
        "I will send you the offer by Friday, promised.",
        "It is too expensive.",
    ],
    "acme/tuesday.txt": ["We talked about the weather for a while."],
    "acme/private.txt": ["Please call me back on my own number next week."],
    "zeta/first.txt": ["We are ready to negotiate the contract now."],
    "zeta/second.txt": ["Legal has signed the contract this morning."],
    "zeta/third.txt": [""],
}
TRANSCRIPTS = {
    document_id: Transcript(turns=tuple(Turn(text=text) for text in turns)) for document_id, turns in SAID.items()
}
ACME = MergeGroup("acme", "default", "default")
PRIVATE = MergeGroup("acme", "private", "short")
ZETA = MergeGroup("Zeta | Söhne", "default", "default")

_ACTIONS = TypeAdapter(tuple[CrmAction, ...])


class Job(NamedTuple):
    """What `write_bundle` takes."""

    header: ExportHeader
    records: list[ManifestRecord]
    actions: list[str]
    before: Content | None = None


def freeze(target: Path, job: Job) -> Seal:
    """Write the job's bundle into `target`."""
    return write_bundle(target, *job, now=NOW)


def files(folder: Path) -> dict[str, bytes]:
    """The bytes of each file in the folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def completed_job(require: str = "any") -> Job:
    """Six calls of two accounts: four succeeded, one failed, one skipped; three groups, six merged actions."""
    return _job(Context("default", JOB, EXPORT, require), _first_acme(), ACME_FAILED)


def successor_job() -> Job:
    """The job after it where every call counts: the failed one succeeded and says what Monday's said, and one thing."""
    first = completed_job("all")
    context = Context("default", SUCCESSOR, NEXT_EXPORT, "all")
    tuesday = _contribution(1, "acme/tuesday.txt", _offer_again(), _weather())
    job = _job(context, [*_first_acme(), tuesday], None, _given(first))
    header = job.header._replace(job_id=SUCCESSOR, export_id=NEXT_EXPORT, export_version=2, supersedes=EXPORT)
    return Job(header, job.records, job.actions, Content(first.records, first.actions))


def _given(job: Job) -> list[MergedAction]:
    return [MergedAction.model_validate_json(text) for text in job.actions]


def _job(
    context: Context,
    acme_calls: list[Contribution],
    acme_failed: ManifestRecord | None,
    inherited: list[MergedAction] | None = None,
) -> Job:
    def merged(group: MergeGroup, calls: list[Contribution], missing: list) -> Merged:
        return merge(context, group, calls, missing, [one for one in inherited or () if one.group.key == group])

    failed = [(1, Missing(document_id="acme/tuesday.txt", error_code="provider_timeout"))] if acme_failed else []
    acme = merged(ACME, acme_calls, failed)
    private = merged(PRIVATE, [_contribution(2, "acme/private.txt", _call_back())], [])
    zeta = merged(
        ZETA,
        [
            _contribution(3, "zeta/first.txt", _stage("zeta/first.txt", "Negotiation", "negotiate the contract")),
            _contribution(4, "zeta/second.txt", _stage("zeta/second.txt", "Won", "signed the contract")),
        ],
        [(5, Missing(document_id="zeta/third.txt", error_code="budget_exhausted"))],
    )
    rows = acme.rows | private.rows | zeta.rows
    records = [
        _succeeded(rows, 0, "acme/monday.txt", ACME, "Ann offered.\nThe price was an issue."),
        acme_failed or _succeeded(rows, 1, "acme/tuesday.txt", ACME, "The weather.", attempts=2),
        _succeeded(rows, 2, "acme/private.txt", PRIVATE, "A call back is wanted.", attempts=3),
        _succeeded(rows, 3, "zeta/first.txt", ZETA, "They negotiate."),
        _succeeded(rows, 4, "zeta/second.txt", ZETA, "They signed."),
        _without_result(5, "zeta/third.txt", ZETA, "skipped", "budget_exhausted", "the job's budget is spent"),
    ]
    actions = [action.model_dump_json() for group in (acme, private, zeta) for action in group.actions]
    return Job(_header("completed", len(records), len(actions)), records, actions)


def _first_acme() -> list[Contribution]:
    return [_contribution(0, "acme/monday.txt", _offer(), _price(), _unproven())]


def cancelled_job() -> Job:
    """One call that was finished before the job was cancelled, and one that was not."""
    context = Context(workspace="default", job_id=JOB, export_id=EXPORT, require="any")
    rows = {0: alone(context, _contribution(0, "acme/monday.txt", _offer()))}
    records = [
        _succeeded(rows, 0, "acme/monday.txt", ACME, "Ann offered."),
        _without_result(1, "acme/tuesday.txt", ACME, "skipped", "cancelled", "the job was cancelled"),
    ]
    return Job(_header("cancelled", 2, 0), records, [])


def plain_record(position: int = 0, **changes: object) -> ManifestRecord:
    """A succeeded record without actions."""
    record = ManifestRecord(
        position=position,
        document_id=f"call-{position}",
        account_id="acme",
        source_sha256="a" * 64,
        state="succeeded",
        attempt_count=1,
        attempt_id="7c3e0000-0000-4000-8000-000000000003",
        error_code=None,
        error_detail=None,
        summary="They talked.",
        actions_json="[]",
        warnings_json="[]",
        input_tokens=12,
        cached_tokens=None,
        output_tokens=3,
        cost_usd=None,
        unknown_calls=0,
        model="extractive",
    )
    return record._replace(**changes)


def plain_header(total: int, **changes: object) -> ExportHeader:
    """The header of a completed job without merged actions."""
    return _header("completed", total, 0)._replace(**changes)


def _header(state: str, total: int, merged_rows: int) -> ExportHeader:
    return ExportHeader(
        job_id=JOB,
        idempotency_key="nightly/2026-11-30",
        digest="d" * 64,
        export_id=EXPORT,
        export_version=1,
        supersedes=None,
        job_state=state,
        options={"require": "any", "concurrency": 4},
        total=total,
        merged_rows=merged_rows,
    )


def _contribution(position: int, document_id: str, *actions: FoundAction) -> Contribution:
    opportunity = "006-zeta" if document_id.startswith("zeta") else None
    return Contribution(position, document_id, opportunity, None, actions)


def _offer() -> FoundAction:
    evidence = _evidence("acme/monday.txt", "I will send you the offer by Friday")
    return FoundAction(
        kind="follow_up",
        text="Send the offer",
        owner="Ann",
        due_text="by Friday",
        due_on="2026-12-04",
        evidence=evidence,
    )


def _price() -> FoundAction:
    evidence = _evidence("acme/monday.txt", "It is too expensive.")
    return FoundAction(
        kind="record_objection", text="# Too <b>expensive</b> | [x](http://evil.example)", evidence=evidence
    )


def _offer_again() -> FoundAction:
    evidence = _evidence("acme/tuesday.txt", "We talked about the weather")
    return FoundAction(kind="follow_up", text="Send the  offer", owner="Ann", evidence=evidence)


def _weather() -> FoundAction:
    evidence = _evidence("acme/tuesday.txt", "the weather for a while")
    return FoundAction(kind="record_objection", text="The weather", evidence=evidence)


def _unproven() -> FoundAction:
    return FoundAction(kind="follow_up", text="Invite them for lunch", reasons=("quote_not_found",))


def _call_back() -> FoundAction:
    return FoundAction(
        kind="follow_up", text="Call back", evidence=_evidence("acme/private.txt", "Please call me back")
    )


def _stage(document_id: str, stage: str, quote: str) -> FoundAction:
    return FoundAction(
        kind="update_stage",
        text=f"Move to {stage}",
        proposed_stage=stage,
        evidence=_evidence(document_id, quote),
        reasons=(STAGE_CHANGE,),
    )


def _evidence(document_id: str, quote: str) -> tuple:
    found = Haystack(document_id, TRANSCRIPTS[document_id]).locate(Quote(quote=quote))
    assert found is not None
    return (found,)


def _succeeded(
    rows: dict[int, tuple[CrmAction, ...]],
    position: int,
    document_id: str,
    group: MergeGroup,
    summary: str,
    attempts: int = 1,
) -> ManifestRecord:
    return plain_record(
        position,
        document_id=document_id,
        account_id=group.account_id,
        attempt_count=attempts,
        summary=summary,
        actions_json=_ACTIONS.dump_json(rows.get(position, ())).decode(),
        warnings_json=json.dumps([{"code": "same_text", "place": None}], separators=(",", ":")),
        cost_usd=0.0,
    )


def _without_result(
    position: int, document_id: str, group: MergeGroup, state: str, code: str, detail: str
) -> ManifestRecord:
    return plain_record(
        position,
        document_id=document_id,
        account_id=group.account_id,
        state=state,
        error_code=code,
        error_detail=detail,
        summary=None,
        input_tokens=None,
        output_tokens=None,
        model=None,
    )


ACME_FAILED = _without_result(
    1, "acme/tuesday.txt", ACME, "failed", "provider_timeout", "two calls took longer than 60 s"
)
