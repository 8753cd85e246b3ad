"""The paths and URIs of a batch -> its documents, in a stable order."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import structlog

from pipeline.domain.documents import IncomingDocument
from pipeline.errors import Problem
from pipeline.transcripts.batch import archive, document, folder, ndjson, objects, remote, table
from pipeline.transcripts.batch.companions import Companions
from pipeline.transcripts.batch.file import File, Found, Given, Stream, Unreadable
from pipeline.transcripts.batch.kind import kind_of

log = structlog.get_logger(__name__)


def read_paths(
    paths: Sequence[Path | str], account: str | None = None, id_prefix: str = ""
) -> Iterator[IncomingDocument | Problem]:
    """Everything below the paths and URIs (`s3://`, `gs://`, `az://`, `file://`), in a stable order.

    A transcript's document_id is `id_prefix` and its path relative to the one given; its account is `account`, or the
    name of the folder it lies in. Documents in files of documents bring their own.
    """
    for path in paths:
        yield from _read(_files(path), _Asked(account, id_prefix))


def _files(path: Path | str) -> Iterator[Found]:
    here = path if isinstance(path, Path) else remote.path_of(path)
    return folder.files(here) if here else remote.files(str(path))


class _Asked(NamedTuple):
    """What the caller says of all transcripts."""

    account: str | None
    id_prefix: str
    in_archive: bool = False

    def account_of(self, file: File) -> str:
        return file.folder if self.account is None else self.account


def _read(found: Iterable[Found], asked: _Asked) -> Iterator[IncomingDocument | Problem]:
    listed = list(found)
    companions = Companions(listed)
    for entry in listed:
        if isinstance(entry, Problem):
            yield entry
            continue
        try:
            with entry.opens() as stream:
                yield from _documents(stream, entry, asked, companions)
        except Unreadable as error:
            yield Problem(entry.place, str(error))
        except OSError as error:
            yield Problem(entry.place, f"cannot be read: {error.strerror or 'input or output error'}")


def _documents(
    stream: Stream, file: File, asked: _Asked, companions: Companions
) -> Iterator[IncomingDocument | Problem]:
    match kind_of(stream, file.name):
        case "archive" if not asked.in_archive:
            yield from _read(archive.files(stream, file), asked._replace(in_archive=True))
        case "archive" | "other archive":
            yield Problem(file.place, "an archive that is not read: unpack it first")
        case "lines":
            yield from _given(ndjson.documents(stream, file.place), file)
        case "objects":
            yield from _given(objects.documents(stream, file.place), file)
        case "table":
            yield from _given(table.documents(stream, file.place, asked.account_of(file)), file)
        case "transcript" | "other table" as kind:
            names = companions.of(file, stream)
            if names is None:
                log.warning("companion_skipped", place=file.place)  # it names the speakers of the calls beside it
                return
            fields = {"document_id": asked.id_prefix + file.name, "account_id": asked.account_of(file)}
            yield from document.from_file(stream, fields, file.place, names, is_table=kind == "other table")


def _given(found: Iterator[Given | Problem], file: File) -> Iterator[IncomingDocument | Problem]:
    each = None
    for each in found:
        yield each if isinstance(each, Problem) else document.incoming(*each)
    if each is None:
        log.warning("no_documents", place=file.place)  # a table of headings, or nothing at all
