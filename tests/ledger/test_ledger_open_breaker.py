"""An open breaker before many documents: they stay where they are, uncharged, and hardly a message is sent."""

from ledger_rows import check, rows, submitted, update, value

from pipeline.stages.admit import admit
from pipeline.stages.commands import Process
from pipeline.stages.process import process
from pipeline.stages.reconcile import reconcile

DOCUMENTS = 20_000
LANES = 8
PROBES = 5


def ticked(ledger):
    """The documents that a tick sends to the workers."""
    return [command.released for command in reconcile(ledger, 60.0, "w") if isinstance(command, Process)]


def test_an_open_breaker_over_20000_documents_spends_no_attempt_and_no_message_but_its_probes(ledger, settings, bench):
    job_id = submitted(ledger, settings, DOCUMENTS, concurrency=LANES)
    worker = bench(*["quota_exhausted"] * (1 + PROBES))
    first = admit(ledger, job_id).released
    assert len(first) == LANES
    assert [process(worker, one).next for one in first] == [None] * LANES
    assert value(ledger, "SELECT opened_for FROM gates") == "quota_exhausted"
    assert [ticked(ledger) for _ in range(20)] == [[]] * 20
    assert value(ledger, "SELECT count(*) FROM attempts") == 1
    for _ in range(PROBES):
        update(ledger, "gates", "probe_at = clock_timestamp()", "true")
        (probe,) = ticked(ledger)
        assert process(worker, probe).next is None
        assert ticked(ledger) == []
    assert rows(ledger, "SELECT outcome, charged, count(*) FROM attempts GROUP BY 1, 2") == [
        ("requeued", False, 1 + PROBES)
    ]
    assert rows(ledger, "SELECT state, sum(charged), count(*) FROM items GROUP BY 1") == [("pending", 0, DOCUMENTS)]
    assert value(ledger, "SELECT max(publishes) FROM items") == 1
    check(ledger, job_id)
