"""The work of one attempt: count tokens, summarize, verify the quotes.

It reads the ledger and changes nothing there but the places that its calls take in the profile's declared rates.
"""

import traceback
from dataclasses import dataclass
from hashlib import sha256
from time import monotonic, sleep
from typing import Final
from uuid import UUID

import structlog
from pydantic import TypeAdapter
from pydantic_core import to_json

from pipeline.domain import failure
from pipeline.domain.canonical import canonical
from pipeline.domain.documents import DocumentFields, Transcript, Turn
from pipeline.domain.groups import MergeGroup
from pipeline.domain.results import Summary, Usage
from pipeline.domain.verify_quotes import verify_quotes
from pipeline.errors import ItemFailure, RateUsedUp
from pipeline.ledger import gates, texts
from pipeline.ledger.attempts import Call
from pipeline.ledger.items import Outcome, Started
from pipeline.ledger.texts import StoredText
from pipeline.settings import Profile
from pipeline.stages.bench import Bench
from pipeline.summarizers.port import SummaryRequest
from pipeline.summarizers.tokens import count_tokens

log = structlog.get_logger(__name__)

_TURNS: Final = TypeAdapter(tuple[Turn, ...])


@dataclass(slots=True)
class Work:
    """What an attempt came to: either a result or the code and our own sentence, and the calls it took.

    With neither result nor code the document is given back: the declared rates have no place for it now.
    """

    calls: list[Call]
    result: Outcome | None = None
    error_code: str = ""
    detail: str = ""
    retry_after: float | None = None


def work(bench: Bench, started: Started) -> Work:
    """Summarize the claimed document; whatever goes wrong becomes a code of its attempt and our own sentence."""
    done = Work(calls=[])
    try:
        _summarize(bench, started, done)
    except ItemFailure as failed:
        done.error_code, done.detail, done.retry_after = failed.error_code, failed.detail, failed.retry_after
    except RateUsedUp as used_up:
        done.detail = str(used_up)
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
    profile = bench.settings.profile(started.profile)
    transcript = Transcript(turns=_TURNS.validate_json(started.turns))
    fields = _fields(started)
    tokens = _count(bench, profile, transcript)
    summary = _call(bench, profile, started, fields, transcript, tokens, work)

    def lookup(document_id: str) -> tuple[MergeGroup, Transcript] | None:
        other = bench.patience()(_read_text, bench, started.job_id, document_id)
        return (other.group, Transcript(turns=_TURNS.validate_json(other.turns))) if other else None

    found = verify_quotes(summary.actions, fields, transcript, lookup)
    work.result = _result(summary, to_json(found).decode())


def _result(summary: Summary, actions: str) -> Outcome:
    used = summary.usage
    return Outcome(
        outcome="succeeded",
        result_hash=sha256(canonical([summary.summary, actions])).hexdigest(),
        summary=summary.summary,
        actions=actions,
        warnings=to_json(summary.warnings).decode(),
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cost_usd=used.cost_usd,
        model=summary.model,
    )


def _read_text(bench: Bench, job_id: UUID, document_id: str) -> StoredText | None:
    with bench.ledger.statement() as tx:
        return texts.of_document(tx, job_id, document_id)


def _count(bench: Bench, profile: Profile, transcript: Transcript) -> int:
    """The transcript's tokens; 0 where nobody needs to know. Raises ItemFailure above the profile's limit.

    A token is at least one byte: without a declared rate most calls need no counting to be known as small enough.
    """
    limit = profile.max_input_tokens
    is_small = sum(len(turn.text) + len(turn.speaker or "") + 3 for turn in transcript.turns) * 4 <= limit
    if is_small and profile.tokens_per_minute is None:
        return 0
    cache = bench.settings.data_dir / "tiktoken"
    counted = count_tokens(transcript, profile.encoding, cache, limit)
    if counted > limit:
        raise ItemFailure(
            "input_too_large", f"more than the profile's {limit} tokens ({profile.encoding}): split the call"
        )
    return counted


def _call(
    bench: Bench,
    profile: Profile,
    started: Started,
    fields: DocumentFields,
    transcript: Transcript,
    tokens: int,
    work: Work,
) -> Summary:
    """Ask the summarizer; where its output does not hold, again in the same attempt with the problem named."""
    summarizer = bench.summarizer(profile.summarizer)
    attempt_began = monotonic()
    ends = attempt_began + started.seconds
    problem: str | None = None
    while True:
        sequence = len(work.calls) + 1
        _wait_for_a_place(bench, started.profile, profile, tokens)
        began = monotonic()
        request = SummaryRequest(
            fields=fields,
            transcript=transcript,
            language=started.language,
            attempt_number=started.number,
            call_sequence=sequence,
            problem=problem,
            deadline_seconds=ends - began,
        )

        try:
            summary = summarizer.summarize(request)
        except ItemFailure as failed:
            work.calls.append(_made(sequence, failed.error_code, Usage(), began, attempt_began))
            if sequence >= failure.POLICIES[failed.error_code].calls:
                raise
            problem = failed.detail
        else:
            work.calls.append(_made(sequence, None, summary.usage, began, attempt_began))
            return summary


def _wait_for_a_place(bench: Bench, name: str, profile: Profile, tokens: int) -> None:
    """Reserve the call's place in the declared rates and sleep until it comes, two seconds at most.

    A place counts the input's tokens; no summarizer says yet how many it may answer with. Raises RateUsedUp.
    """
    requests, allowed = profile.requests_per_minute, profile.tokens_per_minute
    if requests is None and allowed is None:
        return
    request = 60.0 / requests if requests else 0.0
    share = tokens * 60.0 / allowed if allowed else 0.0
    wait = bench.patience()(_reserve, bench, name, request, share)
    if wait is None:
        raise RateUsedUp(name)
    sleep(wait)


def _reserve(bench: Bench, name: str, request: float, tokens: float) -> float | None:
    with bench.ledger.statement() as tx:
        return gates.reserve(tx, name, request, tokens)


def _made(sequence: int, code: str | None, used: Usage, began: float, attempt_began: float) -> Call:
    return Call(
        sequence=sequence,
        step="summarize",
        error_code=code,
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cost_usd=used.cost_usd,
        latency_seconds=monotonic() - began,
        began_seconds=began - attempt_began,
    )


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
