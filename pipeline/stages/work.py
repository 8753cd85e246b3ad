"""The work of one attempt: count tokens, summarize, verify the quotes.

It changes nothing in the ledger but what its calls and its texts leave there (`stages.attempt`).
"""

import traceback
from dataclasses import dataclass
from hashlib import sha256
from typing import Final
from uuid import UUID

import structlog
from pydantic import TypeAdapter
from pydantic_core import to_json

from pipeline.domain.canonical import canonical
from pipeline.domain.documents import DocumentFields, Transcript, Turn
from pipeline.domain.groups import MergeGroup
from pipeline.domain.results import Summary, Usage
from pipeline.domain.verify_quotes import verify_quotes
from pipeline.errors import GivenBack, ItemFailure, NotFound
from pipeline.ledger import texts
from pipeline.ledger.attempts import Call
from pipeline.ledger.items import Outcome, Started
from pipeline.ledger.texts import StoredText
from pipeline.settings import Profile
from pipeline.stages.attempt import LedgerAttempt
from pipeline.stages.bench import Bench
from pipeline.summarizers.port import UNKNOWN, SummaryRequest
from pipeline.summarizers.tokens import within_limit

log = structlog.get_logger(__name__)

_TURNS: Final = TypeAdapter(tuple[Turn, ...])


@dataclass(slots=True)
class Work:
    """What an attempt came to: either a result or the code and our own sentence, the calls it took and their sum.

    With neither result nor code the document is given back: it waits for `wait` seconds at least.
    """

    calls: list[Call]
    result: Outcome | None = None
    error_code: str = ""
    detail: str = ""
    retry_after: float | None = None
    wait: float = 0.0
    usage: Usage = UNKNOWN
    #: the last call's, as the provider named it
    model: str | None = None


def work(bench: Bench, started: Started) -> Work:
    """Summarize the claimed document; whatever goes wrong becomes a code of its attempt and our own sentence."""
    done = Work(calls=[])
    try:
        _summarize(bench, started, done)
    except ItemFailure as failed:
        done.error_code, done.detail, done.retry_after = failed.error_code, failed.detail, failed.retry_after
    except GivenBack as given_back:
        done.detail, done.wait = str(given_back), given_back.seconds
    except BaseException as error:  # noqa: BLE001 - a thread's slot leaks if MemoryError or SystemExit leaves the task
        # The error's own words may be a customer's: only its type and its place are kept.
        done.error_code, done.detail = (
            "internal_error",
            f"{type(error).__name__} while summarizing; see the worker's log",
        )
        places = [f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]
        log.error("process.internal_error", **ids_of(started), error=type(error).__name__, places=places)
    return done


def _summarize(bench: Bench, started: Started, work: Work) -> None:
    profile = _profile(bench, started)
    transcript = Transcript(turns=_TURNS.validate_json(started.turns))
    fields = _fields(started)
    tokens = within_limit(transcript, profile, bench.settings.vocabularies)
    attempt = LedgerAttempt(bench, started, profile, tokens)
    request = SummaryRequest(fields, transcript, started.language, tokens)
    try:
        summary = bench.summarizer(started.profile).summarize(request, attempt)
    finally:
        attempt.end()
        work.calls, work.usage = attempt.calls, attempt.usage
        work.model = next((call.model for call in reversed(attempt.calls) if call.model), None)

    def lookup(document_id: str) -> tuple[MergeGroup, Transcript] | None:
        other = bench.patience()(_read_text, bench, started.job_id, document_id)
        return (other.group, Transcript(turns=_TURNS.validate_json(other.turns))) if other else None

    found = verify_quotes(summary.actions, fields, transcript, lookup)
    work.result = _result(summary, to_json(found).decode())


def _profile(bench: Bench, started: Started) -> Profile:
    """The job's profile as this worker knows it; one that it does not know shuts the gate, and no document is lost."""
    try:
        return bench.settings.profile(started.profile)
    except NotFound:
        detail = f"a worker does not know the profile {started.profile!r}: give it its settings and start it again"
        raise ItemFailure("provider_auth", detail) from None


def _result(summary: Summary, actions: str) -> Outcome:
    return Outcome(
        outcome="succeeded",
        result_hash=sha256(canonical([summary.summary, actions])).hexdigest(),
        summary=summary.summary,
        actions=actions,
        warnings=to_json(summary.warnings).decode(),
        model=summary.model,
    )


def _read_text(bench: Bench, job_id: UUID, document_id: str) -> StoredText | None:
    with bench.ledger.statement() as tx:
        return texts.of_document(tx, job_id, document_id)


def _fields(started: Started) -> DocumentFields:
    return DocumentFields(
        document_id=started.document_id,
        account_id=started.account_id,
        consent_scope=started.consent_scope,
        retention_class=started.retention_class,
        occurred_at=started.occurred_at,
        opportunity_id=started.opportunity_id,
        contact_id=started.contact_id,
        owner_hint=started.owner_hint,
    )


def ids_of(started: Started) -> dict[str, str | int]:
    """An attempt as logs name it."""
    return {
        "job_id": str(started.job_id),
        "document_id": started.document_id,
        "attempt_id": str(started.attempt_id),
        "attempt": started.number,
    }
