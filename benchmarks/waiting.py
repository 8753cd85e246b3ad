"""Lanes that wait for a provider: the ideal rounds of pure waiting against the time from first start to last settle."""

import json
import math
from collections.abc import Iterator

from benchmarks.bed import Bed
from benchmarks.documents import calls
from benchmarks.pairs import Comparison, Finding, at_least
from benchmarks.scale import Scale


def waiting(bed: Bed, scale: Scale) -> Iterator[Finding]:
    """Every document waits the same; what is lost lies between one document's end and the next one's start."""
    slots, seconds = scale.waiting_slots, scale.waiting_seconds
    script = bed.settings.data_dir / "waiting.json"
    script.write_text(json.dumps({"default": [{"do": "succeed", "seconds": seconds}]}))
    ideal = math.ceil(scale.waiting / slots) * seconds
    what = f"{scale.waiting} documents that wait {seconds:g} s, {slots} lanes"
    compared = Comparison(what, "of the ideal", f"ideal {ideal:g} s", at_least(0.9))
    with bed.workers(slots, CALLFOLD_SCRIPT=str(script)):
        yield compared.of([(ideal / _seconds(bed, scale), 1.0) for _ in range(scale.pairs)])


def _seconds(bed: Bed, scale: Scale) -> float:
    bed.clear()
    job_id = bed.submit(calls(scale.waiting, 500), scale.waiting_slots)
    bed.complete(job_id)
    bed.wait_until_frozen(job_id)
    (first, last) = bed.row("SELECT min(started_at), max(ended_at) FROM attempts WHERE job_id = %s", job_id)
    seconds: float = (last - first).total_seconds()
    return seconds
