"""Gathers what the cases found and prints it at the end, as `docs/reliability.md` shows it."""

from pathlib import Path

import pytest
from findings import Findings

RESULTS = Path(__file__).parents[3] / "build" / "crash-matrix.json"


@pytest.fixture(scope="session")
def findings():
    return Findings(RESULTS)


def pytest_terminal_summary(terminalreporter):
    if RESULTS.exists():
        terminalreporter.section("docs/reliability.md")
        for line in Findings(RESULTS).lines():
            terminalreporter.line(line)
