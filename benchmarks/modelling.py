"""Documents through a model over HTTP: the ideal of pure waiting against the time from first start to last settle.

Beside it, in turn and on the same server, the plain asyncio script that one would write instead.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.bed import MODEL, Bed
from benchmarks.pairs import Comparison, Finding, at_least
from benchmarks.scale import Scale
from benchmarks.slow_model import ideal, numbered
from pipeline.transcripts.batch import incoming

_CALL_SIZE = 2_000


def model(bed: Bed, scale: Scale) -> Iterator[Finding]:
    """Two requests a document, each as long as the server says."""
    count, lanes, median = scale.model, scale.model_slots, scale.model_seconds
    best = ideal(count, lanes, median)
    what = f"{count} documents, two requests of {median:g} s in the median each, {lanes} lanes"
    with _server(median) as url, bed.workers(lanes, CALLFOLD_PROFILES__MODEL__BASE_URL=url):
        _ours(bed, lanes, lanes)  # every thread has its connection to the server, the SDK and the vocabulary are loaded
        pairs = [(_ours(bed, count, lanes), _bare(url, count, lanes)) for _ in range(scale.pairs)]
    against_ideal = Comparison(what, "of the ideal", f"ideal {best:.3g} s", at_least(0.9))
    yield against_ideal.of([(best / ours, 1.0) for ours, _ in pairs])
    yield Comparison(what, "of the ideal", "plain asyncio script", at_least(0.9)).of(
        [(best / ours, best / bare) for ours, bare in pairs]
    )


def _ours(bed: Bed, count: int, lanes: int) -> float:
    bed.clear()
    documents = (incoming(document, "") for document in numbered(count, _CALL_SIZE))
    job_id = bed.submit(documents, lanes, MODEL)
    bed.complete(job_id)
    bed.wait_until_frozen(job_id)
    (first, last, succeeded) = bed.row(
        "SELECT min(started_at), max(ended_at), count(*) FILTER (WHERE outcome = 'succeeded') FROM attempts "
        "WHERE job_id = %s",
        job_id,
    )
    if succeeded != count:
        raise RuntimeError(f"only {succeeded} of {count} documents succeeded")
    seconds: float = (last - first).total_seconds()
    return seconds


def _bare(url: str, count: int, lanes: int) -> float:
    command = [sys.executable, "-m", "benchmarks.bare_script", url]
    numbers = map(str, (count, _CALL_SIZE, lanes))
    return float(subprocess.run([*command, *numbers], check=True, capture_output=True, text=True).stdout)


@contextmanager
def _server(median: float) -> Iterator[str]:
    command = [sys.executable, "-m", "benchmarks.slow_model", str(median)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None  # noqa: S101 - it is piped
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()
