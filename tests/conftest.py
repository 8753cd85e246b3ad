"""How two processes share the suite (`make test`): by file, but the tests on one crew's workers stay together.

Two crews on one RabbitMQ vhost would take each other's messages.
"""

from pathlib import Path

import pytest

#: Files of tests/flow that start what they need by themselves.
ALONE = {"test_stack.py", "test_cli.py", "test_benchmarks.py"}


def pytest_collection_modifyitems(items):
    for item in items:
        path = Path(item.path)
        together = path.parent.name == "flow" and path.name not in ALONE
        item.add_marker(pytest.mark.xdist_group("crew" if together else path.name))
