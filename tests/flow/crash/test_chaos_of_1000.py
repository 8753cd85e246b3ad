"""A thousand documents through chaos, on each broker."""

import pytest
from chaos import Chaos, seed
from faults import broker_of


@pytest.mark.timeout(900)
def test_1000_documents_come_through_chaos(crew, open_desk, servers, broker, findings):
    chosen = seed(20261130)
    chaos = Chaos(chosen, 1_000)
    chaos.hire(crew, broker=broker)
    desk = open_desk()
    figures = chaos.run(crew, desk, servers, broker_of(servers, broker), rounds=4)
    findings.note(desk, "chaos", seed=chosen, **figures)
