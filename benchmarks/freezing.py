"""Freeze against a bare COPY TO of the same rows into one file.

A freeze reads by pages, writes manifest, merged actions, report and seal, hashes and syncs them, renames the folder and
writes the row; the bare COPY streams the joined rows and syncs nothing.
"""

import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

from benchmarks.bed import Bed
from benchmarks.documents import calls
from benchmarks.pairs import Comparison, Finding, at_least
from benchmarks.scale import Scale
from exports.freeze import freeze

_ROWS = """
COPY (
    SELECT items.position, document_id, account_id, source_sha256, items.state, attempt_count, attempt_id,
           items.error_code, items.error_detail, summary, row_actions.actions, items.warnings, input_tokens,
           output_tokens, cost_usd, model
      FROM items JOIN attempts USING (attempt_id)
      LEFT JOIN row_actions ON row_actions.job_id = items.job_id AND row_actions.position = items.position
     WHERE items.job_id = '{job}' ORDER BY items.position
) TO STDOUT
"""

#: What a summarizer might say of a call: a paragraph and two actions, of which no quote is found.
_OUTPUT = {
    "summary": "The customer wants a pilot in the next quarter and asked for a quote with a volume discount. " * 5,
    "actions": [
        {"kind": "follow_up", "text": "Send the quote for forty seats.", "owner": "Rep", "due_text": "by Friday"},
        {"kind": "record_objection", "text": "The security review takes too long."},
    ],
}


def freezing(bed: Bed, scale: Scale) -> Iterator[Finding]:
    """The workers make the job once; then it is frozen again and again, each time into another folder."""
    script = bed.settings.data_dir / "actions.json"
    script.write_text(json.dumps({"default": [{"do": "succeed", "output": _OUTPUT}]}))
    with bed.workers(scale.slots, CALLFOLD_SCRIPT=str(script)):
        bed.clear()
        job_id = bed.submit(calls(scale.freeze, 500), scale.slots)
        bed.complete(job_id)
        bed.wait_until_frozen(job_id)
    compared = Comparison(f"freeze, {scale.freeze:,} rows", "rows/s", "bare COPY TO", at_least(0.5))
    yield compared.run(
        scale.pairs, lambda: scale.freeze / _frozen(bed, job_id), lambda: scale.freeze / _copied(bed, job_id)
    )


def _frozen(bed: Bed, job_id: UUID) -> float:
    with tempfile.TemporaryDirectory(prefix="callfold-bench-") as folder:
        began = time.perf_counter()
        freeze(bed.ledger, Path(folder), job_id)
        return time.perf_counter() - began


def _copied(bed: Bed, job_id: UUID) -> float:
    with tempfile.TemporaryFile() as file:
        began = time.perf_counter()
        with bed.database.cursor().copy(_ROWS.format(job=job_id)) as copy:
            file.writelines(copy)
        file.flush()
        return time.perf_counter() - began
