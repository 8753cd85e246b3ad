"""The caller's side: hands jobs in, sends messages, watches the ledger.

Every bundle that it gives back was checked for what must hold of any finished job.
"""

import json
import threading
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from celery import Celery
from crew import LEASE_SECONDS, wait_for
from sqlalchemy import make_url

from exports.freeze import folder_of
from exports.verify import verify
from pipeline.domain.documents import Transcript
from pipeline.domain.results import JobView
from pipeline.errors import LedgerError, LedgerUnavailable
from pipeline.ledger import exports, views
from pipeline.ledger.connection import Ledger
from pipeline.settings import Profile, Settings
from pipeline.stages.submit import submit
from pipeline.transcripts.batch import incoming
from tasks.app import configuration

#: The events that make a document final.
ENDINGS = {"succeeded", "failed", "skipped", "expired"}
#: The codes with which a document may be born.
BORN_FAILED = {"empty_input", "too_short", "unreadable_input", "not_a_call", "input_too_large"}


#: One statement sees one state of the ledger.
_COUNTS = """
SELECT version, array[total, pending, running, succeeded, failed, skipped],
       (SELECT array[count(*), count(*) FILTER (WHERE items.state = 'pending'),
                     count(*) FILTER (WHERE items.state IN ('released', 'running')),
                     count(*) FILTER (WHERE items.state = 'succeeded'),
                     count(*) FILTER (WHERE items.state = 'failed'),
                     count(*) FILTER (WHERE items.state = 'skipped')]
          FROM items WHERE items.job_id = jobs.job_id)
  FROM jobs WHERE job_id = %s
"""


@dataclass(frozen=True)
class Bundle:
    """A frozen export, read back."""

    folder: Path
    seal: dict
    #: how many quotes stand where they say
    quotes: int
    rows: list[dict]
    actions: list[dict]


class Desk:
    """Works on the crew's ledger and broker."""

    def __init__(self, ledger, urls, crew):
        self.ledger, self._crew = ledger, crew
        self.settings = Settings(
            DATABASE_URL=urls.database,
            BROKER_URL=crew.broker,
            RESULT_URL=urls.result,
            data_dir=crew.data,
            profiles={"scripted": Profile(summarizer="scripted")},
        )
        self.app = Celery("desk", set_as_current=False)
        self.app.conf.update(configuration(self.settings))
        self._transcripts = {}

    def know(self, profiles):
        """Name jobs other profiles as well, which the workers must have, too."""
        known = self.settings.profiles | {name: Profile(**profile) for name, profile in profiles.items()}
        self.settings = self.settings.model_copy(update={"profiles": known})

    def remember(self, documents):
        """Keep the words that the quotes of a bundle are held against; returns the documents."""
        self._transcripts |= {one.fields.document_id: one.transcript or Transcript(turns=()) for one in documents}
        return documents

    def store(self, documents, key=None, **options):
        """Submit without a message: the job stays accepted until somebody notices."""
        read = self.remember([incoming(document, document.document_id) for document in documents])
        return submit(self.ledger, self.settings, read, {"profile": "scripted", **options}, key)

    def submit(self, documents, key=None, **options):
        """Submit as the service does: stored, then the message to admit it. Returns the job's id."""
        job_id = self.store(documents, key, **options).job_id
        self.send("admit", job_id)
        return job_id

    def send(self, task, *arguments):
        """A message as the service sends it."""
        self.app.send_task(f"tasks.{task}", [str(one) if isinstance(one, UUID) else one for one in arguments])

    @contextmanager
    def without_postgresql(self):
        """While the block runs, PostgreSQL ends every connection to the ledger and takes no new one."""
        ours = make_url(self.settings.database_url.get_secret_value())
        door = Ledger(ours.set(database="postgres").render_as_string(hide_password=False))
        try:
            _allow(door, ours.database, "false")
            yield
        finally:
            _allow(door, ours.database, "true")
            door.close()
        wait_for(self.answers)

    @contextmanager
    def heard(self):
        """The ids of the tasks of which workers say that they have succeeded, as Flower hears it."""
        ids, ready = [], threading.Event()
        with self.app.connection_for_read() as connection:
            receiver = self.app.events.Receiver(
                connection, handlers={"task-succeeded": lambda event: ids.append(event["uuid"])}
            )
            receiver.on_consume_ready = lambda *_, **__: ready.set()
            listening = threading.Thread(target=receiver.capture, kwargs={"wakeup": False})
            listening.start()
            assert ready.wait(40)
            try:
                yield ids
            finally:
                receiver.should_stop = True
                listening.join()

    def waiting(self, queue):
        """How many messages are in the queue and with no worker."""
        with self.app.connection_for_read() as connection:
            return connection.default_channel.queue_declare(queue=queue.name, passive=True).message_count

    def purge(self, queue):
        """Forget the messages of earlier tests."""
        with self.app.connection_for_write() as connection:
            bound = queue(connection.default_channel)
            bound.declare()
            bound.purge()

    def suspect(self, job_id):
        """Let all documents of a job that was stored run alone."""
        with self.ledger.transaction() as tx:
            tx.exec_driver_sql("UPDATE items SET alone = true WHERE job_id = %s", (job_id,))

    def waits_for_table(self, table):
        """Whether anybody waits for a lock on the whole table."""
        return bool(self.query("SELECT 1 FROM pg_locks WHERE relation = %s::regclass AND NOT granted", table))

    def close(self):
        self.app.close()

    def job(self, job_id) -> JobView:
        with self.ledger.statement() as tx:
            return views.job(tx, job_id, LEASE_SECONDS)

    def query(self, statement, *parameters):
        """Rows of the ledger."""
        with self.ledger.statement() as tx:
            return tx.exec_driver_sql(statement, parameters).all()

    def items(self, job_id):
        return self.query("SELECT * FROM items WHERE job_id = %s ORDER BY position", job_id)

    def attempts(self, job_id):
        return self.query("SELECT * FROM attempts WHERE job_id = %s ORDER BY position, number", job_id)

    def answers(self):
        """Whether PostgreSQL does."""
        with suppress(LedgerError):
            return self.query("SELECT 1") == [(1,)]

    def until(self, job_id, condition, seconds=40.0, meanwhile=lambda: None):
        """Wait until the condition holds of the job's view."""
        wait_for(lambda: meanwhile() or condition(self.job(job_id)), seconds)

    def until_settled(self, job_id, number, seconds=40.0, meanwhile=lambda: None):
        """Wait until so many documents are final."""
        self.until(
            job_id,
            lambda job: job.counts.succeeded + job.counts.failed + job.counts.skipped >= number,
            seconds,
            meanwhile,
        )

    def until_running(self, job_id, *positions):
        """Wait until the documents at these positions are all in the hands of an attempt."""
        wait_for(lambda: {self.items(job_id)[position].state for position in positions} == {"running"})

    def bundle(self, job_id, seconds=40.0, meanwhile=lambda: None) -> Bundle:
        """Wait for the job's export, check what must hold of every finished job, and read it."""
        wait_for(lambda: meanwhile() or self._export(job_id), seconds)
        job, folder = self.job(job_id), folder_of(self._crew.data / "exports", self._export(job_id))
        bundle = Bundle(
            folder,
            json.loads((folder / "seal.json").read_bytes()),
            verify(
                folder, {item.document_id: self._transcripts[item.document_id] for item in self.items(job_id)}
            ).quotes,
            _lines(folder / "manifest.ndjson"),
            _lines(folder / "actions.ndjson"),
        )
        self._check(job_id, job, bundle)
        return bundle

    def _export(self, job_id):
        with self.ledger.statement() as tx:
            return exports.find(tx, job_id)

    def _check(self, job_id, job, bundle):
        """One row per input in input order, one export, no action twice, exact counts, versions without gaps."""
        items = self.items(job_id)
        assert [row["document_id"] for row in bundle.rows] == [item.document_id for item in items]
        assert len(items) == job.counts.total == bundle.seal["counts"]["total"]
        assert self.query("SELECT count(*) FROM exports WHERE job_id = %s", job_id) == [(1,)]
        assert {count for _, count in Counter(action["action_key"] for action in bundle.actions).items()} <= {1}
        for state in ("succeeded", "failed", "skipped"):
            count = sum(row["state"] == state for row in bundle.rows)
            assert count == getattr(job.counts, state) == bundle.seal["counts"][state]
        self._check_events(job_id, job, items)

    def _check_events(self, job_id, job, items):
        events = self.query("SELECT * FROM events WHERE job_id = %s ORDER BY version", job_id)
        assert [event.version for event in events] == list(range(1, job.version + 1))
        ends = Counter(
            event.position for event in events if event.kind in {"succeeded", "failed", "skipped", "expired"}
        )
        # What was born final or is carried over has ended before: no event of this job says so.
        assert ends == {
            item.position: 1
            for item in items
            if not item.carried and (item.attempt_count or item.error_code in {"expired", "cancelled"})
        }
        assert Counter(event.kind for event in events)["admitted"] <= 1
        assert Counter(event.kind for event in events)[job.state] == 1
        changes = {"accepted": "accepted", "admitted": "running", "completed": "completed", "cancelled": "cancelled"}
        notified = self.query("SELECT version, state FROM notifications WHERE job_id = %s ORDER BY version", job_id)
        assert notified == [(event.version, changes[event.kind]) for event in events if event.kind in changes]

    @contextmanager
    def watched(self, job_id):
        """Look at the job all the while: its version only grows, and at each its counts are those of its items.

        Gives the versions that were seen. PostgreSQL may go away meanwhile.
        """
        done, seen, faults = threading.Event(), [0], []

        def watch():
            while not done.wait(0.02):
                with suppress(LedgerUnavailable):
                    [(version, *counts)] = self.query(_COUNTS, job_id)
                    if counts[0] != counts[1] or version < seen[-1]:
                        faults.append((version, seen[-1], counts))
                    seen.append(version)

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            yield seen
        finally:
            done.set()
            watcher.join()
        assert faults == []


def _allow(door, database, whether):
    with door.statement() as tx:
        tx.exec_driver_sql(f'ALTER DATABASE "{database}" ALLOW_CONNECTIONS {whether}')
        tx.exec_driver_sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (database,))


def _lines(path):
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]
