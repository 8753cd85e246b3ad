"""Peak memory of the worker, the submitter and the exporter, each a process of its own, at two sizes of job."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from benchmarks.alone import peak_mib
from benchmarks.bed import Bed
from benchmarks.pairs import Comparison, Finding, at_most
from benchmarks.scale import Scale


def memory(bed: Bed, scale: Scale) -> Iterator[Finding]:
    """One line for each of the three; new processes for every run."""
    small, large = scale.memory
    pairs = [(_peaks(bed, large, scale.slots), _peaks(bed, small, scale.slots)) for _ in range(scale.pairs)]
    for who in ("worker", "submitter", "exporter"):
        compared = Comparison(f"peak memory of the {who}, {large:,} documents", "MiB", f"{small:,}", at_most(1.1))
        yield compared.of([(one[who], other[who]) for one, other in pairs])


def _peaks(bed: Bed, size: int, slots: int) -> dict[str, float]:
    with bed.workers(slots) as workers, tempfile.TemporaryDirectory(prefix="callfold-bench-") as exports:
        bed.clear()
        submitted = _alone(bed, slots, "submit", str(size))
        job_id = UUID(submitted["job_id"])
        bed.complete(job_id)
        bed.wait_until_frozen(job_id)
        frozen = _alone(bed, slots, "freeze", str(job_id), exports)
        return {
            "worker": peak_mib(workers.process),
            "submitter": submitted["peak_mib"],
            "exporter": frozen["peak_mib"],
        }


def _alone(bed: Bed, slots: int, *arguments: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.alone", *arguments]
    done = subprocess.run(command, env=bed.environment(slots), stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found
