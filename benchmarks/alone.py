"""A program of its own for what is measured by its memory: `python -m benchmarks.alone submit N | freeze JOB FOLDER`.

Prints one JSON object: `job_id` and `peak_mib`.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final
from uuid import UUID

from benchmarks.documents import calls
from exports.freeze import freeze
from pipeline import logs
from pipeline.ledger.connection import Ledger
from pipeline.settings import Settings, load
from pipeline.stages.submit import submit

#: Characters: about ten minutes of talk.
CALL_SIZE = 10_000


def peak_mib(pid: int | str = "self") -> float:
    """The most memory that a process ever had (VmHWM), in MiB. Linux only."""
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) / 1_024


def _submit(ledger: Ledger, settings: Settings, count: str) -> str:
    options = {"profile": "noop", "concurrency": settings.process_slots}
    return str(submit(ledger, settings, calls(int(count), CALL_SIZE), options).job_id)


def _freeze(ledger: Ledger, _settings: Settings, job_id: str, folder: str) -> str:
    freeze(ledger, Path(folder), UUID(job_id))
    return job_id


_VERBS: Final[dict[str, Callable[..., str]]] = {"submit": _submit, "freeze": _freeze}


def main(verb: str, *arguments: str) -> None:
    """Do it and say what it took."""
    settings = load()
    logs.configure(settings)
    if settings.database_url is None:
        raise SystemExit("needs DATABASE_URL: the benchmarks start it")
    ledger = Ledger(settings.database_url.get_secret_value())
    job_id = _VERBS[verb](ledger, settings, *arguments)
    print(json.dumps({"job_id": job_id, "peak_mib": peak_mib()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
