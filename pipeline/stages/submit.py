"""Submit: a collection of documents becomes a stored job, or the job that its key already names.

Everything is read once and spooled first, so that a wrong batch is refused whole, with every problem, before anything
is stored, and so that nobody waits on somebody else's upload.
"""

import json
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import IO, Any
from uuid import UUID, uuid4

from pydantic_core import to_json

from pipeline.domain.canonical import RequestDigest, canonical
from pipeline.domain.documents import IncomingDocument, Warning
from pipeline.domain.identity import WORKSPACE, check_key
from pipeline.domain.options import JobOptions, check_budget, parse
from pipeline.domain.text import nfc
from pipeline.errors import IdempotencyConflict, Problem, Problems
from pipeline.ledger import submissions
from pipeline.ledger.connection import Ledger
from pipeline.ledger.submissions import ItemRow, KeyHolder, NewJob, TextRow
from pipeline.settings import Settings

_OCCURRED_AT = ItemRow._fields.index("occurred_at")


@dataclass(frozen=True, slots=True)
class Submitted:
    """The job that holds the request; `created` is false where it was there before."""

    job_id: UUID
    key: str
    digest: str
    created: bool


def submit(
    ledger: Ledger,
    settings: Settings,
    documents: Iterable[IncomingDocument | Problem],
    options: dict[str, Any],
    key: str | None = None,
    deliver_to: str | None = None,
) -> Submitted:
    """Store the request under `key` (without one: `cli-` and the digest).

    Its export goes to the URI `deliver_to` as well; that is no part of the digest.

    Raises InvalidRequest with every problem of the batch, IdempotencyConflict with both digests.
    """
    asked = parse(options)
    check_budget(asked, settings.profile(asked.profile))
    if key is not None:
        check_key(key)
    with tempfile.TemporaryFile() as texts, tempfile.TemporaryFile() as items:
        spool = _spool(documents, asked, texts, items)
        request = _new_job(spool, asked, key or f"cli-{spool.digest}", deliver_to)
        holder = _holder(ledger, request)
        if holder is None:
            holder = _store(ledger, request, texts, items)
    if holder is None:
        return Submitted(request.job_id, request.idempotency_key, request.digest, created=True)
    if holder.digest != request.digest:
        raise IdempotencyConflict(request.idempotency_key, str(holder.job_id), holder.digest, request.digest)
    return Submitted(holder.job_id, request.idempotency_key, request.digest, created=False)


@dataclass(frozen=True, slots=True)
class _Spool:
    digest: str
    total: int
    born_failed: int


def _spool(
    documents: Iterable[IncomingDocument | Problem], options: JobOptions, texts: IO[bytes], items: IO[bytes]
) -> _Spool:
    """Read every document once: its words to one file, its item to another; refuse the batch if anything is wrong."""
    digest = RequestDigest()
    total = born_failed = 0
    for document, extra in accepted(documents):
        digest.add(document.digest_fields)
        if document.transcript is not None:
            texts.write(b"%d\t%s\n" % (total, to_json(document.transcript.turns)))
        items.write(_item_line(total, document, extra))
        born_failed += document.fault is not None
        total += 1
    return _Spool(digest.finish(options.given()), total, born_failed)


def accepted(documents: Iterable[IncomingDocument | Problem]) -> Iterator[tuple[IncomingDocument, tuple[Warning, ...]]]:
    """The documents of a batch, each with a warning where an earlier one has the same words.

    Raises InvalidRequest with the problems of the batch once all were read.
    """
    seen, problems, total = _Seen(), Problems(), 0
    for document in documents:
        if isinstance(document, Problem):
            problems.add(document)
        elif (problem := seen.id_problem(document)) is not None:
            problems.add(problem)
        else:
            yield document, seen.same_text(document, total)
            total += 1
    if not total and not problems:
        problems.add(Problem("request", "no documents: hand in at least one"))
    if problems:
        raise problems.error()


class _Seen:
    """The ids and texts so far, by short hashes: a batch of any size needs little memory."""

    def __init__(self) -> None:
        self._ids: dict[bytes, str] = {}
        self._texts: dict[str, int] = {}

    def id_problem(self, document: IncomingDocument) -> Problem | None:
        """The problem of a document whose id came before, naming both places."""
        short = blake2b(document.fields.document_id.encode(), digest_size=16).digest()
        if short not in self._ids:
            self._ids[short] = document.place
            return None
        first = self._ids[short]
        to_do = "give each document its own"
        if nfc(first) == nfc(document.place):
            to_do = "one file is given twice, or two names differ only in how Unicode spells them"
        return Problem(document.place, f"document_id is the same as at {first}: {to_do}")

    def same_text(self, document: IncomingDocument, position: int) -> tuple[Warning, ...]:
        """A warning where an earlier document has the same words; it stays a row of its own."""
        first = self._texts.setdefault(document.source_sha256, position)
        return () if first == position else (Warning(code="identical_text", place=f"position {first}"),)


def _item_line(position: int, document: IncomingDocument, extra: tuple[Warning, ...]) -> bytes:
    fields, fault = document.fields, document.fault
    row = ItemRow(
        position=position,
        document_id=fields.document_id,
        account_id=fields.account_id,
        consent_scope=fields.consent_scope,
        retention_class=fields.retention_class,
        occurred_at=fields.occurred_at,
        opportunity_id=fields.opportunity_id,
        contact_id=fields.contact_id,
        owner_hint=fields.owner_hint,
        source_sha256=document.source_sha256,
        warnings=to_json((*document.warnings, *extra)).decode(),
        error_code=fault.code if fault else None,
        error_detail=fault.detail if fault else None,
    )
    return to_json(row) + b"\n"


def _new_job(spool: _Spool, options: JobOptions, key: str, deliver_to: str | None) -> NewJob:
    return NewJob(
        job_id=uuid4(),
        workspace=WORKSPACE,
        idempotency_key=key,
        digest=spool.digest,
        options=canonical(options.given()).decode(),
        profile=options.profile,
        require=options.require,
        concurrency=options.concurrency,
        max_attempts=options.max_attempts,
        language=options.language,
        deadline_seconds=options.deadline_seconds,
        total=spool.total,
        born_failed=spool.born_failed,
        deliver_to=deliver_to,
        budget_tokens=options.budget_tokens,
        budget_usd=options.budget_usd,
    )


def _holder(ledger: Ledger, request: NewJob) -> KeyHolder | None:
    with ledger.statement() as tx:
        return submissions.key_holder(tx, request.workspace, request.idempotency_key)


def _store(ledger: Ledger, request: NewJob, texts: IO[bytes], items: IO[bytes]) -> KeyHolder | None:
    """Copy the texts, then take the key; whoever comes second gives his texts up and gets the first one's job."""
    submissions.copy_texts(ledger, request.job_id, _text_rows(texts))
    with ledger.transaction() as tx:
        holder = submissions.admit_request(tx, request, _item_rows(items))
    if holder is not None:
        submissions.discard_texts(ledger, request.job_id)
    return holder


def _text_rows(spool: IO[bytes]) -> Iterator[TextRow]:
    spool.seek(0)
    for line in spool:
        position, turns = line.split(b"\t", 1)
        yield TextRow(int(position), turns[:-1].decode())


def _item_rows(spool: IO[bytes]) -> Iterator[ItemRow]:
    spool.seek(0)
    for line in spool:
        fields = json.loads(line)
        if fields[_OCCURRED_AT] is not None:
            fields[_OCCURRED_AT] = datetime.fromisoformat(fields[_OCCURRED_AT])
        yield ItemRow(*fields)
