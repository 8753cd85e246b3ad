"""Who shares the workers with a large job, or a lane's neighbour with a very long call, hardly notices.

Every call waits as a provider lets one wait, and the large job has as many lanes as the worker has threads.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

from benchmarks.bed import Bed
from benchmarks.documents import calls
from benchmarks.pairs import Comparison, Finding, at_most
from benchmarks.scale import Scale
from pipeline.stages.cancel import cancel
from pipeline.stages.commands import Admit
from tasks.lanes import publish

_CALL_SIZE = 500
_SMALL = 3


def fairness(bed: Bed, scale: Scale) -> Iterator[Finding]:
    """A small job behind a large one, and short calls beside a long one."""
    script, goes_on = bed.settings.data_dir / "fairness.json", bed.settings.data_dir / "goes-on"
    short = {"do": "succeed", "seconds": scale.fair_seconds}
    # The first call of a job is the long one, unless it may go on at once.
    long = {"do": "succeed", "seconds": scale.fair_seconds, "until": str(goes_on)}
    script.write_text(json.dumps({"default": [short], "documents": {"call-000000": [long]}}))
    goes_on.touch()
    with bed.workers(scale.slots, CALLFOLD_SCRIPT=str(script)):
        yield _small_behind_large(bed, scale)
        yield _short_beside_long(bed, scale, goes_on)


def _small_behind_large(bed: Bed, scale: Scale) -> Finding:
    what = f"{_SMALL} documents behind {scale.fair_large:,} on {scale.slots} lanes"
    compared = Comparison(what, "s", f"the {_SMALL} alone", at_most(2))

    def alone() -> float:
        bed.clear()
        return _small(bed)

    def behind() -> float:
        bed.clear()
        with _large_under_way(bed, scale):
            return _small(bed)

    return compared.run(scale.pairs, behind, alone)


def _small(bed: Bed) -> float:
    job_id = bed.submit(calls(_SMALL, _CALL_SIZE), 8)
    seconds = bed.complete(job_id)
    bed.wait_until_frozen(job_id)
    return seconds


@contextmanager
def _large_under_way(bed: Bed, scale: Scale) -> Iterator[None]:
    """A large job of which two rounds have ended; cancelled afterwards."""
    job_id = bed.submit(calls(scale.fair_large, _CALL_SIZE), scale.slots)
    publish([Admit(job_id)])
    bed.wait_until_settled(job_id, 2 * scale.slots)
    yield
    publish(cancel(bed.ledger, job_id))
    bed.wait_until_frozen(job_id)


def _short_beside_long(bed: Bed, scale: Scale, goes_on: Path) -> Finding:
    what = f"{scale.fair_short} short calls beside a long one, {scale.slots} lanes"
    compared = Comparison(what, "s", f"{scale.slots - 1} lanes, none long", at_most(1.1))

    def beside() -> float:
        goes_on.unlink()
        return _short_ones(bed, scale, scale.slots, goes_on)

    return compared.run(scale.pairs, beside, lambda: _short_ones(bed, scale, scale.slots - 1, goes_on))


def _short_ones(bed: Bed, scale: Scale, lanes: int, goes_on: Path) -> float:
    """Seconds from the first start to the last settle of all calls but the first."""
    bed.clear()
    job_id = bed.submit(calls(1 + scale.fair_short, _CALL_SIZE), lanes)
    publish([Admit(job_id)])
    bed.wait_until_settled(job_id, scale.fair_short)
    goes_on.touch()
    bed.wait_until_frozen(job_id)
    return _span(bed, job_id)


def _span(bed: Bed, job_id: UUID) -> float:
    (first, last) = bed.row(
        "SELECT min(started_at), max(ended_at) FROM attempts WHERE job_id = %s AND position > 0", job_id
    )
    seconds: float = (last - first).total_seconds()
    return seconds
