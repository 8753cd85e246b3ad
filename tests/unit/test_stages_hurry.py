"""When a worker's slots hang, and when it waits for PostgreSQL no longer."""

from uuid import uuid4

import pytest

from pipeline.errors import LedgerUnavailable
from pipeline.stages.leases import Leases
from pipeline.stages.patience import patience

LEASE = 60.0


def test_a_slot_hangs_when_its_attempt_is_still_held_a_lease_after_its_end():
    leases = Leases(None, LEASE)
    with leases.held(uuid4(), 600.0), leases.held(uuid4(), 1 - LEASE):
        assert leases.hung() == 0
        with leases.held(uuid4(), -1 - LEASE):
            assert leases.hung() == 1
        assert leases.hung() == 0
    leases.stop()


def test_a_process_that_has_to_end_asks_postgresql_no_second_time():
    asked = []

    def ask():
        asked.append(True)
        raise LedgerUnavailable("PostgreSQL did not answer")

    with pytest.raises(LedgerUnavailable):
        patience(3_600.0, hurried=lambda: True)(ask)
    assert len(asked) == 1
