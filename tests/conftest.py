"""How the processes of `make test` share the suite: by file, but every test on RabbitMQ in one of them.

Each process has servers and workers of its own; the vhost that AMQP_URL names is one for all, and two crews on it would
take each other's messages.
"""

from pathlib import Path

import pytest


def pytest_collection_modifyitems(items):
    for item in items:
        group = "rabbitmq" if "rabbitmq" in item.name else Path(item.path).name
        item.add_marker(pytest.mark.xdist_group(group))
