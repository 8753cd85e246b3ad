"""Submit against a bare COPY of the same bytes into tables without any index or constraint.

Submit reads and checks an NDJSON file, hashes, spools, copies texts and items under their constraints; the bare COPY
streams the finished rows from a file.
"""

import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.bed import Bed
from benchmarks.documents import calls, inputs
from benchmarks.pairs import Comparison, Finding, at_least
from benchmarks.scale import Scale
from pipeline.transcripts.batch import read_paths

#: Characters: half an hour of talk.
CALL_SIZE = 25_000
_CHUNK = 1 << 16
_TABLES = ("texts", "items")


def submitting(bed: Bed, scale: Scale) -> Iterator[Finding]:
    """Once from a file, and once with documents that are already read."""
    source = bed.settings.data_dir / "calls.ndjson"
    with source.open("w", encoding="utf-8") as lines:
        lines.writelines(f"{one.model_dump_json(exclude_none=True)}\n" for one in inputs(scale.submit, CALL_SIZE))
    bed.clear()
    bed.submit(calls(scale.submit, CALL_SIZE), 8)
    rows = {table: _dump(bed, table) for table in _TABLES}
    mebibytes = sum(path.stat().st_size for path in rows.values()) / (1 << 20)
    read = list(calls(scale.submit, CALL_SIZE))

    def from_file() -> float:
        bed.clear()
        began = time.perf_counter()
        bed.submit(read_paths([source]), 8)
        return mebibytes / (time.perf_counter() - began)

    def already_read() -> float:
        bed.clear()
        began = time.perf_counter()
        bed.submit(iter(read), 8)
        return mebibytes / (time.perf_counter() - began)

    def bare() -> float:
        bed.clear()
        return mebibytes / sum(_copy(bed, table, rows[table]) for table in _TABLES)

    for what, ours in (("submit from an NDJSON file", from_file), ("submit of documents in memory", already_read)):
        compared = Comparison(f"{what}, {scale.submit:,} calls", "MiB/s", "bare COPY", at_least(0.5))
        yield compared.run(scale.pairs, ours, bare)


def _dump(bed: Bed, table: str) -> Path:
    path = bed.settings.data_dir / f"{table}.copy"
    with path.open("wb") as file, bed.database.cursor().copy(f"COPY {table} TO STDOUT") as copy:
        file.writelines(copy)
    return path


def _copy(bed: Bed, table: str, path: Path) -> float:
    bed.database.execute(f"DROP TABLE IF EXISTS bare_{table}")
    bed.database.execute(f"CREATE TABLE bare_{table} (LIKE {table})")
    began = time.perf_counter()
    with path.open("rb") as file, bed.database.cursor().copy(f"COPY bare_{table} FROM STDIN") as copy:
        while chunk := file.read(_CHUNK):
            copy.write(chunk)
    return time.perf_counter() - began
