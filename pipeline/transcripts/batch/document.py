"""A document's fields and words, or a file's bytes -> an IncomingDocument.

A document that is merely bad (empty, not text, too large) comes with its fault and will be a failed row; what makes
the batch itself wrong is a Problem with its place.
"""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from pipeline.domain.canonical import canonical
from pipeline.domain.documents import (
    DocumentFields,
    DocumentInput,
    Fault,
    IncomingDocument,
    Transcript,
    Turn,
    Warning,
)
from pipeline.domain.text import storable
from pipeline.errors import ItemFailure, Problem
from pipeline.transcripts import shape, speakers, speech
from pipeline.transcripts.batch.file import Stream
from pipeline.transcripts.formats import plain
from pipeline.transcripts.read import MAX_BYTES, read, too_large
from pipeline.transcripts.source import MAX_TURNS, too_many_turns

_STRAY: Final = (
    "a table of unknown columns: name in its first line document_id and transcript, or for one call Speaker and Text"
)


def incoming(document: DocumentInput, place: str, warnings: tuple[Warning, ...] = ()) -> IncomingDocument:
    """One document that was given as fields, not as a file: its transcript is read as a file's would be.

    `warnings`: what was doubtful before its fields were known.
    """
    if document.turns is not None:
        return _from_turns(document, document.turns, place)
    return _from_text(document, document.transcript or "", place, warnings)


def from_file(
    stream: Stream, given: dict[str, Any], place: str, names: Mapping[str, str], *, is_table: bool = False
) -> Iterator[IncomingDocument | Problem]:
    """One document that is a file, with its `document_id` and `account_id`; a Problem where no id can be so.

    `names`: those of speakers whom the file knows by ids only. They change what is read, so the digest covers them.
    `is_table`: by its name it is one of columns that nobody knows, whose cells are no words unless a format knows them.
    """
    try:
        fields = DocumentFields.model_validate(given)
    except ValidationError as error:
        yield from shape.problems(error, place)
        return
    data, sha256 = _contents(stream)
    hashes = {"sha256": sha256} | ({"names": hashlib.sha256(canonical(names)).hexdigest()} if names else {})
    words = _words(data, names, is_table=is_table)
    yield _incoming(fields, given | {"transcript": hashes}, sha256, words, place)


def _contents(stream: Stream) -> tuple[bytes | None, str]:
    """The bytes, None where they are too many to hold, and their sha256 in both cases."""
    data = stream.read(MAX_BYTES + 1)
    if len(data) <= MAX_BYTES:
        return data, hashlib.sha256(data).hexdigest()
    stream.seek(0)
    return None, hashlib.file_digest(stream, "sha256").hexdigest()


def _from_text(document: DocumentInput, text: str, place: str, warnings: tuple[Warning, ...]) -> IncomingDocument:
    """JSON can hold half a surrogate pair: it is hashed as it was given and read as U+FFFD."""
    sha256 = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    words = _words(storable(text).encode())
    words = words._replace(warnings=(*warnings, *words.warnings))
    given = _given(document)
    return _incoming(
        DocumentFields.model_validate(given), given | {"transcript": {"sha256": sha256}}, sha256, words, place
    )


def _from_turns(document: DocumentInput, turns: tuple[Turn, ...], place: str) -> IncomingDocument:
    given_turns = [turn.model_dump(exclude_unset=True) for turn in turns]
    sha256 = hashlib.sha256(canonical(given_turns)).hexdigest()
    words = _words_of(turns)
    given = _given(document)
    return _incoming(DocumentFields.model_validate(given), given | {"turns": {"sha256": sha256}}, sha256, words, place)


class _Words(NamedTuple):
    """What reading gave: a transcript or the fault."""

    transcript: Transcript | None
    fault: Fault | None = None
    warnings: tuple[Warning, ...] = ()


def _words_of(turns: tuple[Turn, ...]) -> _Words:
    """Their number and their words stay as they were given: the caller knows turns by their places."""
    if len(turns) > MAX_TURNS:
        return _bad(too_many_turns())
    labelled, merged = speakers.settle(turns)
    try:
        speech.require(labelled)
    except ItemFailure as failure:
        return _bad(failure)
    return _Words(Transcript(turns=tuple(labelled)), warnings=(*merged, *speakers.doubts(labelled)))


def _given(document: DocumentInput) -> dict[str, Any]:
    """Every field as the caller gave it, but for the words."""
    return document.model_dump(mode="json", exclude_unset=True, exclude={"transcript", "turns"})


def _words(data: bytes | None, names: Mapping[str, str] | None = None, *, is_table: bool = False) -> _Words:
    if data is None:
        return _bad(too_large())
    try:
        reading = read(data, names)
    except ItemFailure as failure:
        return _bad(failure)
    if is_table and reading.format == plain.NAME:
        return _bad(ItemFailure("unreadable_input", _STRAY))
    return _Words(reading.transcript, warnings=reading.warnings)


def _bad(failure: ItemFailure) -> _Words:
    return _Words(None, Fault(code=failure.error_code, detail=failure.detail))


def _incoming(
    fields: DocumentFields, digest_fields: dict[str, Any], sha256: str, words: _Words, place: str
) -> IncomingDocument:
    return IncomingDocument(
        fields=fields,
        source_sha256=sha256,
        digest_fields=digest_fields,
        transcript=words.transcript,
        fault=words.fault,
        warnings=words.warnings,
        place=place,
    )
