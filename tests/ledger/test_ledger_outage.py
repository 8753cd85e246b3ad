"""PostgreSQL goes away for longer than a lease while documents are with the provider: nothing is paid for twice."""

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Semaphore
from time import monotonic, sleep

import pytest
from ledger_bench import bench_with
from ledger_rows import check, rows, submitted, value

from pipeline.domain.results import Summary
from pipeline.errors import ItemFailure, LedgerError
from pipeline.ledger.connection import Ledger
from pipeline.ledger.migrate import migrate
from pipeline.settings import Settings
from pipeline.stack.ports import free_port
from pipeline.stack.postgres import Postgres
from pipeline.stack.programs import Supervisor
from pipeline.stages.admit import admit
from pipeline.stages.process import process
from pipeline.stages.reconcile import reconcile

CALLS = 64
LEASE = 1.0


class Server:
    """A PostgreSQL of this test's own, on one port, that it stops and starts."""

    def __init__(self, folder):
        self._folder, self._postgres, self._port = folder, Postgres(folder / "postgres"), free_port()
        self.url = self._postgres.urls(self._port)["database"]
        self.start()

    def start(self):
        self._supervisor = Supervisor(lambda name: self._folder / f"{name}.log", lambda _: None)
        child = self._supervisor.start(self._postgres.program(self._port))
        wait_for(lambda: self._postgres.is_ready(child.pid, self._port))

    def stop(self):
        self._supervisor.stop()


class Provider:
    """A summarizer whose calls are all under way before the first one answers."""

    name = "provider"

    def __init__(self):
        self.asked, self.begun = [], Semaphore(0)
        self.answers = {half: Event() for half in (0, 1)}

    def summarize(self, request, _attempt):
        name = request.fields.document_id
        self.asked.append(name)
        self.begun.release()
        if not self.answers[int(name.removeprefix("doc-")) % 2].wait(60):
            raise ItemFailure("provider_timeout", "nobody let it answer")
        return Summary(summary="An offer.")


@pytest.fixture
def server():
    # Not pytest's own folder: pytest closes it to PostgreSQL's account.
    with tempfile.TemporaryDirectory(prefix="callfold-") as folder:
        started = Server(Path(folder))
        yield started
        started.stop()


def test_postgresql_away_for_two_leases_during_64_calls_pays_nothing_twice(server):
    migrate(server.url)
    ledger = Ledger(server.url, pool=CALLS)
    settings = Settings(
        DATABASE_URL=None, BROKER_URL="redis://elsewhere", RESULT_URL="redis://elsewhere", lease_seconds=LEASE
    )
    provider, over = Provider(), Event()
    bench = bench_with(ledger, settings, provider)
    job_id = submitted(ledger, settings, CALLS, concurrency=CALLS)

    def tick():
        """As the bootstep does: what ends one tick does not end all."""
        released = []
        while not over.wait(LEASE / 10):
            try:
                released += reconcile(ledger, LEASE, "w")
            except LedgerError:
                continue
        return released

    with ThreadPoolExecutor(CALLS + 1) as pool:
        ticking = pool.submit(tick)
        working = [pool.submit(process, bench, released) for released in admit(ledger, job_id).released]
        for _ in range(CALLS):
            assert provider.begun.acquire(timeout=30)
        server.stop()
        provider.answers[0].set()
        sleep(2 * LEASE)  # the outage itself
        server.start()
        wait_for(lambda: value(ledger, "SELECT last_tick > clock_timestamp() - interval '1 second' FROM reconciler"))
        provider.answers[1].set()
        assert all(one.result(60).settled for one in working)
        over.set()
        ticking.result(30)
    bench.leases.stop()
    assert len(provider.asked) == len(set(provider.asked)) == CALLS
    assert rows(ledger, "SELECT DISTINCT state, attempt_count FROM items") == [("succeeded", 1)]
    assert rows(ledger, "SELECT outcome, count(*) FROM attempts GROUP BY 1") == [("succeeded", CALLS)]
    check(ledger, job_id)
    ledger.close()


def wait_for(condition):
    deadline = monotonic() + 60
    while not answered(condition):
        assert monotonic() < deadline, "it never happened"
        sleep(0.02)


def answered(condition):
    try:
        return condition()
    except LedgerError:
        return False
