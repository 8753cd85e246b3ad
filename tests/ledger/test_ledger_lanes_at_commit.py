"""Never more than K released: not at the end, and not at any commit on the way there.

A trigger that the test installs counts a job's lanes in each transaction that moves one, at the very end of it and one
commit after the other, so that no two commits can hide from each other.
"""

import pytest
from ledger_bench import work_off
from ledger_rows import check, new_job, rows, value

from pipeline.stages.admit import admit
from pipeline.stages.commands import Process
from pipeline.stages.reconcile import reconcile

RUNS = 100
LANES = 3
DOCUMENTS = 7

_INSTALL = """
CREATE TABLE lanes_at_commit (job_id uuid, held int, allowed int);

CREATE FUNCTION note_lanes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(NEW.job_id::text, 1));
    INSERT INTO lanes_at_commit
    SELECT job_id, (SELECT count(*) FROM items WHERE items.job_id = jobs.job_id AND lane IS NOT NULL), concurrency
      FROM jobs WHERE job_id = NEW.job_id;
    RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER lanes_at_commit AFTER UPDATE OF lane ON items
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note_lanes();
"""


@pytest.fixture
def seen(ledger):
    """seen(): how many lanes of a job were held at each of its commits, once for each row that moved."""
    with ledger.transaction() as tx:
        tx.exec_driver_sql(_INSTALL)

    def counts(job_id):
        return [row[0] for row in rows(ledger, "SELECT held FROM lanes_at_commit WHERE job_id = %s", job_id)]

    return counts


@pytest.mark.parametrize("state", ["accepted", "running"])
def test_two_reconcilers_and_a_repeated_admit_never_hold_more_lanes_than_the_job_has(
    ledger, bench, together, seen, state
):
    worker = bench()

    def deliver(job_id):
        return sum(len(work_off(worker, released)) for released in admit(ledger, job_id).released)

    def tick(job_id):
        commands = reconcile(ledger, 60.0, "w")
        mine = [one for one in commands if isinstance(one, Process) and one.released.job_id == job_id]
        return sum(len(work_off(worker, one.released)) for one in mine)

    for _ in range(RUNS // 2):
        job_id = new_job(ledger, ["fresh"] * DOCUMENTS, state=state, concurrency=LANES)
        actions = [lambda j=job_id: deliver(j)] * 2 + [lambda j=job_id: tick(j)] * 2
        assert sum(together(*actions)) == DOCUMENTS
        held = seen(job_id)
        assert len(held) >= 2 * DOCUMENTS
        assert max(held) == LANES
        assert value(ledger, "SELECT succeeded FROM jobs WHERE job_id = %s", job_id) == DOCUMENTS
        assert value(ledger, "SELECT max(attempt_count) FROM items WHERE job_id = %s", job_id) == 1
        check(ledger, job_id)


def test_the_trigger_sees_a_lane_too_many(ledger, seen):
    job_id = new_job(ledger, ["released", "released", "fresh"], concurrency=2)
    with ledger.transaction() as tx:
        tx.exec_driver_sql(
            "UPDATE items SET state = 'released', lane = 2, dispatch_id = gen_random_uuid(), released_at = now(), "
            "published_at = now(), publishes = 1 WHERE job_id = %s AND position = 2",
            (job_id,),
        )
    assert seen(job_id) == [3]
