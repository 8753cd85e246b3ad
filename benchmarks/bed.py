"""The test bed: an embedded stack of its own in a folder that vanishes, workers on it, and jobs run to their end.

Never the configured servers: every run empties the ledger and the broker.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import psycopg
import redis

from benchmarks.app import connect
from benchmarks.documents import calls
from pipeline.domain.documents import IncomingDocument
from pipeline.errors import Problem
from pipeline.ledger.connection import Ledger
from pipeline.ledger.migrate import migrate
from pipeline.ledger.schema import metadata
from pipeline.settings import Profile, Settings
from pipeline.stack import Stack
from pipeline.stages.commands import Admit
from pipeline.stages.submit import submit
from tasks import queues
from tasks.lanes import publish

#: Long enough for the largest run on a slow machine; reaching it is a failure.
PATIENCE = 1_800.0
_POLL = 0.05
#: The profile whose summarizer answers at once, and the one whose model workers are told where to find.
NOOP = "noop"
MODEL = "model"
_PROFILES: Final = {
    NOOP: {"summarizer": "scripted"},
    MODEL: {"summarizer": "openai_chat", "model": "scripted-model", "output_tokens": 500},
}


@dataclass(frozen=True, slots=True)
class Bed:
    """A running, migrated stack."""

    settings: Settings
    urls: dict[str, str]
    ledger: Ledger
    database: psycopg.Connection[tuple[Any, ...]]

    def clear(self) -> None:
        """Drop all data, and let PostgreSQL write out what is left, so that no run pays for the one before."""
        names = ", ".join(table.name for table in metadata.sorted_tables if table.name != "reconciler")
        self.database.execute(f"TRUNCATE {names}")
        self.database.execute("CHECKPOINT")
        for name in ("BROKER_URL", "RESULT_URL"):
            with redis.Redis.from_url(self.urls[name]) as server:
                # The bindings stay: a publisher that has declared its queues does not declare them again.
                left = [key for key in server.scan_iter(count=1_000) if not key.startswith(b"_kombu.")]
                for start in range(0, len(left), 1_000):
                    server.delete(*left[start : start + 1_000])

    def submit(self, documents: Iterable[IncomingDocument | Problem], concurrency: int, profile: str = NOOP) -> UUID:
        """A job, accepted and not admitted yet."""
        options = {"profile": profile, "concurrency": concurrency}
        return submit(self.ledger, self.settings, documents, options, f"bench-{time.time_ns()}").job_id

    def complete(self, job_id: UUID) -> float:
        """Admit the job and wait until it is completed; seconds between the two, both by the ledger's clock."""
        (began,) = self.row("SELECT clock_timestamp()")
        publish([Admit(job_id)])
        state, ended = self._wait("SELECT state, ended_at FROM jobs WHERE job_id = %s AND ended_at IS NOT NULL", job_id)
        if state != "completed":
            raise RuntimeError(f"the job is {state}")
        seconds: float = (ended - began).total_seconds()
        return seconds

    def wait_until_frozen(self, job_id: UUID) -> None:
        """The workers freeze it on their own; a run that begins earlier would share the machine with that."""
        self._wait("SELECT 1 FROM jobs WHERE job_id = %s AND frozen_at IS NOT NULL", job_id)

    def wait_until_settled(self, job_id: UUID, documents: int) -> None:
        """At least so many documents have succeeded."""
        self._wait("SELECT 1 FROM jobs WHERE job_id = %s AND succeeded >= %s", job_id, documents)

    def row(self, statement: str, *parameters: object) -> tuple[Any, ...]:
        """The one row of a statement."""
        found = self.database.execute(statement, parameters).fetchone()
        if found is None:
            raise RuntimeError("no row")
        return found

    def _wait(self, statement: str, job_id: UUID, *parameters: object) -> tuple[Any, ...]:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            found = self.database.execute(statement, (job_id, *parameters)).fetchone()
            if found is not None:
                return found
            time.sleep(_POLL)
        raise RuntimeError(f"job {job_id} did not get there within {PATIENCE:.0f} s: see the workers' logs")

    @contextmanager
    def workers(self, slots: int, **environment: str) -> Iterator["Workers"]:
        """A worker with `slots` threads for `process` and a prefork one for the other queues, warm."""
        control = ",".join(queue.name for queue in queues.CONTROL)
        env = self.environment(slots) | environment
        process = self._start("process", env, "--pool=threads", f"--concurrency={slots}", queues.PROCESS.name)
        others = self._start("control", env, "--pool=prefork", "--concurrency=1", control)
        try:
            self.warm_up(slots)
            yield Workers(process.pid, others.pid)
        finally:
            for worker in (process, others):
                worker.terminate()
            for worker in (process, others):
                worker.wait(60)

    def warm_up(self, lanes: int) -> None:
        """Every thread has its connections, every statement its plan, every module is loaded."""
        self.clear()
        job_id = self.submit(calls(20 * lanes, 500), lanes)
        self.complete(job_id)
        self.wait_until_frozen(job_id)

    def environment(self, slots: int) -> dict[str, str]:
        """By which a child process works on this bed."""
        return (
            os.environ
            | self.urls
            | {
                "CALLFOLD_DATA_DIR": str(self.settings.data_dir),
                "CALLFOLD_PROCESS_SLOTS": str(slots),
                "CALLFOLD_PROFILES": json.dumps(_PROFILES),
                "CALLFOLD_LOG_FORMAT": "json",
            }
        )

    def _start(self, name: str, env: dict[str, str], pool: str, slots: str, consumed: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "celery", "-A", "benchmarks.app", "worker", pool, slots, "-Q", consumed]
        with (self.settings.data_dir / f"{name}.log").open("ab") as log:
            return subprocess.Popen([*command, "-n", f"{name}@%h"], env=env, stdout=log, stderr=log)


@dataclass(frozen=True, slots=True)
class Workers:
    """The pids of the two worker programs."""

    process: int
    control: int


@contextmanager
def bed() -> Iterator[Bed]:
    """An embedded stack, whatever servers are configured."""
    with tempfile.TemporaryDirectory(prefix="callfold-bench-") as folder:
        settings = Settings(
            data_dir=Path(folder, "data"),
            profiles={name: Profile.model_validate(profile) for name, profile in _PROFILES.items()},
            DATABASE_URL=None,
            BROKER_URL=None,
            RESULT_URL=None,
        )
        with Stack.start(settings) as stack:
            migrate(stack.urls.database)
            connect(stack.urls.broker, stack.urls.result)
            ledger = Ledger(stack.urls.database, application="benchmarks")
            dsn = stack.urls.database.replace("+psycopg", "")
            with psycopg.connect(dsn, autocommit=True) as database:
                yield Bed(settings, stack.urls.as_env(), ledger, database)
            ledger.close()
