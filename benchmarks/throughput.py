"""Documents per second with a summarizer that does nothing: from the publishing of the admission to the completed job.

Everything between is in it: start, settle, events, baton, reduce. Against a plain chord of no-op tasks on the same
worker, from the first header's publishing to the callback.
"""

from collections.abc import Iterator

from benchmarks.app import run_plain_chord
from benchmarks.bed import PATIENCE, Bed
from benchmarks.documents import calls
from benchmarks.pairs import Comparison, Finding, at_least, at_most
from benchmarks.scale import Scale

_CALL_SIZE = 500


def throughput(bed: Bed, scale: Scale) -> Iterator[Finding]:
    """At each size against the plain chord."""
    with bed.workers(scale.slots):
        for size in scale.throughput:
            yield _against_chord(bed, scale, size)


def cost(bed: Bed, scale: Scale) -> Iterator[Finding]:
    """What a document costs in a large job against what it costs in a small one."""
    with bed.workers(scale.slots):
        yield _large_against_small(bed, scale)


def _against_chord(bed: Bed, scale: Scale, size: int) -> Finding:
    compared = Comparison(f"pipeline, {size:,} documents", "documents/s", "plain Celery chord", at_least(0.8))
    return compared.run(scale.pairs, lambda: size / _pipeline(bed, size, scale.slots), lambda: size / _chord(bed, size))


def _large_against_small(bed: Bed, scale: Scale) -> Finding:
    small, large = scale.cost
    compared = Comparison(f"pipeline, {large:,} documents", "ms/document", f"{small:,} documents", at_most(1.1))

    def per_document(size: int) -> float:
        return _pipeline(bed, size, scale.slots) / size * 1_000

    return compared.run(scale.pairs, lambda: per_document(large), lambda: per_document(small))


def _pipeline(bed: Bed, size: int, lanes: int) -> float:
    bed.clear()
    job_id = bed.submit(calls(size, _CALL_SIZE), lanes)
    seconds = bed.complete(job_id)
    bed.wait_until_frozen(job_id)
    return seconds


def _chord(bed: Bed, size: int) -> float:
    bed.clear()
    return run_plain_chord(size, PATIENCE)
