"""A real, migrated ledger for each test: cloned from a template, on every PostgreSQL that is at hand.

The embedded one always; a second server (PostgreSQL 15, the oldest that is supported) where
CALLFOLD_TEST_DATABASE_URL names one that may create databases.
"""

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from ledger_bench import Answers, bench_with
from ledger_databases import execute, new_database, url_of

from pipeline.ledger.connection import Ledger
from pipeline.ledger.migrate import migrate
from pipeline.settings import Settings
from pipeline.stack import Stack

#: Its Redis is not started: no test here needs a broker.
_NO_BROKER = {"BROKER_URL": "redis://elsewhere", "RESULT_URL": "redis://elsewhere"}


@pytest.fixture(scope="session", params=["embedded", "configured"])
def server(request):
    """The SQLAlchemy URL of a server's maintenance database."""
    if request.param == "configured":
        url = os.environ.get("CALLFOLD_TEST_DATABASE_URL")
        if not url:
            pytest.skip("no second PostgreSQL: CALLFOLD_TEST_DATABASE_URL names none")
        yield url
        return
    with tempfile.TemporaryDirectory(prefix="callfold-") as base:
        settings = Settings(data_dir=Path(base, "data"), DATABASE_URL=None, **_NO_BROKER)
        with Stack.start(settings) as stack:
            # Nobody keeps this cluster: what a crash would lose may be lost, and each clone costs a checkpoint.
            for setting in ("fsync", "full_page_writes"):
                execute(stack.urls.database, f"ALTER SYSTEM SET {setting} = off")
            execute(stack.urls.database, "SELECT pg_reload_conf()")
            yield stack.urls.database


@pytest.fixture(scope="session")
def template(server):
    """The name of a migrated database that nobody is connected to."""
    with new_database(server) as name:
        migrate(url_of(server, name))
        yield name


@pytest.fixture
def empty_database(server):
    """The URL of a database without any table."""
    with new_database(server) as name:
        yield url_of(server, name)


@pytest.fixture
def database(server, template):
    """The URL of this test's own migrated database."""
    with new_database(server, f"TEMPLATE {template}") as name:
        yield url_of(server, name)


@pytest.fixture
def ledger(database):
    """The door to this test's own ledger, wide enough for its threads."""
    opened = Ledger(database, pool=16)
    yield opened
    opened.close()


@pytest.fixture
def settings():
    return Settings(DATABASE_URL=None, **_NO_BROKER)


@pytest.fixture
def bench(ledger, settings):
    """Makes benches: bench("rate_limited") fails its first call so, and then succeeds."""
    made = []

    def make(*answers, summarizer=None):
        made.append(bench_with(ledger, settings, summarizer or Answers(*answers)))
        return made[-1]

    yield make
    for one in made:
        one.leases.stop()
        one.keeper.stop()


@pytest.fixture
def folder():
    with tempfile.TemporaryDirectory(prefix="callfold-") as name:
        yield Path(name)


@pytest.fixture
def call(database, folder):
    """Runs a command in a process of its own, on this test's ledger and the data folder `folder`/data."""
    env = {**os.environ, **_NO_BROKER, "DATABASE_URL": database, "CALLFOLD_DATA_DIR": str(folder / "data")}
    command = (sys.executable, "-c", "from pipeline.cli.main import app; app()")
    return lambda *arguments: subprocess.run(
        [*command, *map(str, arguments)], env=env, capture_output=True, text=True, check=False
    )


@pytest.fixture
def together():
    """Runs the actions at the same moment and returns their results; fails where one never ends."""
    with ThreadPoolExecutor(200) as pool:

        def run(*actions):
            barrier = Barrier(len(actions))

            def one(action):
                barrier.wait(30)
                return action()

            return [future.result(60) for future in [pool.submit(one, action) for action in actions]]

        yield run
