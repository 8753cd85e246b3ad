"""The short form of chaos. `make test-crash` runs a thousand documents on each broker."""

from chaos import Chaos, seed
from faults import broker_of


def test_100_documents_come_through_chaos(crew, open_desk, servers):
    chaos = Chaos(seed(20261130), 100)
    chaos.hire(crew)
    chaos.run(crew, open_desk(), servers, broker_of(servers, None), rounds=1)
