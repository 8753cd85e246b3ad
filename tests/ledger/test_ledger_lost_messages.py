"""What a queue keeps and what it loses: little is sent twice while it waits, and all that was lost is sent again.

The queue is a list; its times are real and short, for the ledger's clock decides.
"""

from time import monotonic
from uuid import uuid4

import pytest
from ledger_rows import new_job, rows, submitted, value

from pipeline.ledger import items
from pipeline.ledger import reconcile as due
from pipeline.stages.admit import admit
from pipeline.stages.commands import Process
from pipeline.stages.reconcile import reconcile

LEASE = 0.05


class Queue:
    """Messages in the order in which they were sent; `sent` counts them all."""

    def __init__(self, ledger):
        self._ledger, self.messages, self.sent = ledger, [], 0

    def put(self, messages):
        self.messages += messages
        self.sent += len(messages)

    def lose(self):
        self.messages = []

    def take(self, number):
        """A worker takes as many and starts those that it may."""
        taken, self.messages = self.messages[:number], self.messages[number:]
        with self._ledger.statement() as tx:
            for released in taken:
                items.start(tx, released, attempt_id=uuid4(), worker="w", lease=60.0, attempt_seconds=600.0)

    def tick(self):
        """What reconcile sends again."""
        with self._ledger.statement() as tx:
            self.put(due.unstarted(tx, LEASE))


@pytest.fixture
def queue(ledger):
    return Queue(ledger)


def waiting(ledger):
    return value(ledger, "SELECT count(*) FROM items WHERE state = 'released'")


def until(condition):
    deadline = monotonic() + 60
    while not condition():
        assert monotonic() < deadline, "it never happened"


def test_with_8000_released_and_no_worker_the_messages_stay_within_a_tenth_more(ledger, settings, queue):
    for _ in range(8):
        queue.put(admit(ledger, submitted(ledger, settings, 1_000, concurrency=1_000)).released)
    assert queue.sent == waiting(ledger) == 8_000
    ends_at = value(ledger, "SELECT clock_timestamp() + %s * interval '60 seconds'", LEASE)
    while value(ledger, "SELECT clock_timestamp() < %s", ends_at):
        queue.put([one.released for one in reconcile(ledger, LEASE, "w") if isinstance(one, Process)])
    assert 8_000 < queue.sent <= 8_800
    assert waiting(ledger) == 8_000


def test_workers_that_come_back_find_each_document_once(ledger, queue):
    for _ in range(3):
        queue.put(admit(ledger, new_job(ledger, ["fresh"] * 40, state="accepted", concurrency=40)).released)
    until(lambda: queue.tick() or queue.sent == 123)
    while queue.messages:
        queue.take(4)
        queue.tick()
    assert waiting(ledger) == 0
    assert queue.sent <= 1.1 * 120


@pytest.mark.parametrize("losses", [1, 2])
def test_all_that_a_queue_has_lost_is_sent_again_once_one_of_it_has_started(ledger, queue, losses):
    queue.put(admit(ledger, new_job(ledger, ["fresh"] * 120, state="accepted", concurrency=120)).released)
    queue.take(10)
    for _ in range(losses):
        queue.lose()
        before, left = queue.sent, waiting(ledger)
        until(lambda: queue.tick() or queue.messages)
        assert len(queue.messages) == 1
        queue.take(1)
        until(lambda expected=before + left: queue.tick() or queue.sent >= expected)
        assert queue.sent == before + left
    queue.take(120)
    assert waiting(ledger) == 0


def test_the_queue_of_suspects_is_looked_at_by_itself(ledger, queue):
    """Documents that started from the one queue say nothing of what waits in the other."""
    job_id = new_job(ledger, ["suspect, released again", "released", "released"])
    suspect, first, second = [
        due.Released(*row)
        for row in rows(
            ledger, "SELECT job_id, position, dispatch_id, alone FROM items WHERE job_id = %s ORDER BY 2", job_id
        )
    ]
    queue.put([second])
    queue.take(1)
    until(lambda: queue.tick() or len(queue.messages) >= 2)
    assert {one.position for one in queue.messages} == {suspect.position, first.position}
