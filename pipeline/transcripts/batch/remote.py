"""What is given by a URI: `s3://`, `gs://` and `az://` are buckets, `file://` is the folder or file that it names."""

import re
from collections.abc import Iterator
from pathlib import Path

from pipeline.domain.text import storable
from pipeline.errors import Problem
from pipeline.file_uri import folder_of_uri
from pipeline.transcripts.batch.file import Found, Unreadable

_SCHEME = re.compile(r"(?i)(s3|gs|az|file)://")
#: No user, no port and no query: they may hold a secret, which would stand in every message.
_BUCKET = re.compile(r"(s3|gs|az)://([^/@:?#]{1,255})(?:/([^?#]*))?")
_WRITE = {
    "file": "write file:///absolute/folder, with what is special in a URI as % and two hex digits",
    **{name: f"write {name}://bucket/folder; credentials come from the environment" for name in ("s3", "gs", "az")},
}


def is_uri(path: str) -> bool:
    """Whether it is a URI that is read here, and no path on this machine."""
    return _SCHEME.match(path) is not None


def files(uri: str) -> Iterator[Found]:
    """The objects that a URI of a bucket stands for: those below it, or the one that it names."""
    given = _BUCKET.fullmatch(uri)
    if given is None:
        scheme = uri.partition(":")[0].lower()
        yield Problem(f"{scheme}://", _WRITE[scheme])
        return
    try:
        yield from _of_bucket(given[1], given[2], (given[3] or "").strip("/"))
    except Unreadable as error:
        yield Problem(storable(uri), str(error))


def path_of(given: str) -> Path | None:
    """The path on this machine that is meant by a path or a URI; None where it is none."""
    if not is_uri(given):
        return Path(given)
    try:
        return folder_of_uri(given)
    except ValueError:
        return None


def _of_bucket(scheme: str, name: str, key: str) -> Iterator[Found]:
    try:
        from pipeline.transcripts.batch import bucket  # noqa: PLC0415 - it needs an extra that most do not install
    except ModuleNotFoundError:
        raise Unreadable("buckets need an extra: pip install 'callfold[remote]'") from None
    return bucket.files(scheme, name, key)
