"""The embedded servers and a crew of real workers, once per session; an empty ledger for every test.

`AMQP_URL` names a RabbitMQ vhost that the tests may use for themselves: what runs on each broker also runs there.
"""

import json
import os
import tempfile
from fcntl import LOCK_EX, flock
from pathlib import Path

import pytest
from crew import Crew
from desk import Desk
from desktop import Desktop

from pipeline.ledger.connection import Ledger
from pipeline.ledger.migrate import migrate
from pipeline.ledger.schema import metadata
from pipeline.settings import Settings
from pipeline.stack import Stack

#: Minutes of kills, or of a real model's thinking: `make test-crash` and `make test-model` name the folders.
collect_ignore = ["crash", "model"]


@pytest.fixture(scope="session")
def servers():
    """PostgreSQL and Redis, embedded and migrated."""
    # Not pytest's own folder: pytest closes it to PostgreSQL's account.
    with tempfile.TemporaryDirectory(prefix="callfold-") as base, pytest.MonkeyPatch.context() as patch:
        for name in ("DATABASE_URL", "BROKER_URL", "RESULT_URL"):
            patch.delenv(name, raising=False)
        with Stack.start(Settings(data_dir=Path(base, "data"))) as stack:
            migrate(stack.urls.database)
            yield stack


@pytest.fixture(scope="session")
def _ledger(servers):
    ledger = Ledger(servers.urls.database, pool=8, application="tests")
    yield ledger
    ledger.close()


@pytest.fixture(scope="session")
def _crew(servers):
    with tempfile.TemporaryDirectory(prefix="callfold-crew-") as folder:
        crew = Crew(servers.urls, Path(folder))
        yield crew
        crew.dismiss()


@pytest.fixture
def crew(_crew, _ledger):
    """The workers, before an empty ledger; a test says by `crew.work` how they work."""
    with _ledger.transaction() as tx:
        tx.exec_driver_sql(f"TRUNCATE {', '.join(metadata.tables)}")
    return _crew


@pytest.fixture(params=["redis", "rabbitmq"])
def broker(request, _crew):
    """The broker's URL; None stands for the embedded Redis.

    The processes of `make test` have a Redis each, and take turns on the vhost: two crews would take each other's
    messages.
    """
    if request.param == "redis":
        yield None
        return
    if "AMQP_URL" not in os.environ:
        pytest.skip("AMQP_URL names no RabbitMQ")
    with Path(tempfile.gettempdir(), "callfold-tests-rabbitmq.lock").open("w") as turn:
        flock(turn, LOCK_EX)
        yield os.environ["AMQP_URL"]
        _crew.dismiss()


@pytest.fixture
def open_desk(crew, servers, _ledger):
    """Opens a desk before the crew that `crew.work` has hired."""
    desks = []

    def opened():
        desks.append(Desk(_ledger, servers.urls, crew))
        return desks[-1]

    yield opened
    for desk in desks:
        desk.close()


@pytest.fixture
def model_desk(crew, open_desk, server):
    """A desk whose workers have a profile `model`, which asks the module's own `server`."""
    asked = {"summarizer": "openai_chat", "model": "asked-model", "api_key": "the-key", "base_url": server.url}
    profiles = {"model": asked | {"prices": {"input": 1.0, "output": 4.0}}}
    crew.work(env={"CALLFOLD_PROFILES": json.dumps(profiles)})
    desk = open_desk()
    desk.know(profiles)
    yield desk
    crew.dismiss()


@pytest.fixture
def desktop():
    # Not pytest's own folder: pytest closes it to PostgreSQL's account.
    with tempfile.TemporaryDirectory(prefix="callfold-") as folder:
        desktop = Desktop(Path(folder).resolve())
        yield desktop
        for process in desktop.processes():
            process.kill()
