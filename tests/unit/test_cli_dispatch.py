"""Messages from the command line go to the stack that is meant, not to one before it."""

import pytest

from tasks import app


@pytest.fixture
def celery():
    kept = {name: app.app.conf[name] for name in ("broker_url", "result_backend")}
    yield app.app
    app.app.conf.update(kept)
    app.app._after_fork()


def test_an_app_that_is_pointed_at_another_broker_forgets_its_connections(celery):
    app.connect("memory://first", "cache+memory://")
    before = celery.pool, celery.amqp.producer_pool
    app.connect("memory://first", "cache+memory://")
    assert (celery.pool, celery.amqp.producer_pool) == before
    app.connect("memory://second", "cache+memory://")
    assert celery.pool is not before[0]
    assert celery.amqp.producer_pool is not before[1]
    with celery.connection_for_write() as connection:
        assert connection.hostname == "second"
