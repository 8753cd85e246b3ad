"""Files that are one JSON document, or a JSON list of them, written over any number of lines."""

from collections.abc import Iterator

from pipeline.errors import ItemFailure, Problem
from pipeline.transcripts.batch import ndjson
from pipeline.transcripts.batch.file import Given, Stream
from pipeline.transcripts.decoding import decode
from pipeline.transcripts.json_text import value_of
from pipeline.transcripts.read import MAX_BYTES

_SPELLINGS = tuple('"document_id"'.encode(encoding) for encoding in ("utf-8", "utf-16-le", "utf-16-be"))


def is_in(stream: Stream) -> bool:
    """Whether the file is a JSON object with a `document_id`, or a list with such an object."""
    data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES or not any(spelling in data for spelling in _SPELLINGS):
        return False
    try:
        value = value_of(decode(data).text)
    except ItemFailure:  # which the reader of transcripts will say
        return False
    return any(isinstance(each, dict) and "document_id" in each for each in _each(value))


def documents(stream: Stream, place: str) -> Iterator[Given | Problem]:
    """The documents of a file that `is_in` knows; those of a list with their number as place."""
    try:
        value = ndjson.strict(decode(stream.read()).text)
    except ndjson.NotJsonError as error:
        yield Problem(place, str(error))
        return
    for number, each in enumerate(_each(value), start=1):
        yield from ndjson.checked(each, f"{place} item {number}" if isinstance(value, list) else place)


def _each(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]
