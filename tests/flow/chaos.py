"""Chaos: a job of many documents while everything around it fails, in an order that a seed decides.

Faults come at set numbers of final documents, so that the same seed gives the same run as far as processes allow.
"""

import os
from collections import Counter
from contextlib import contextmanager
from random import Random

from crew import SLOTS, wait_for
from faults import drop_database_connections, kill_server
from scripted import call, follow_up, succeed

from pipeline.domain.failure import POLICIES

PROMISE = "I will send you the minutes of call {n} tomorrow."
#: Codes that the ledger and the operator give, and no summarizer.
NOT_OF_A_SUMMARIZER = {"expired", "cancelled", "worker_lost", "failed_by_operator"}
CODES = sorted(set(POLICIES) - NOT_OF_A_SUMMARIZER)
#: Between two faults, and from the last to the export: retries wait, and so does a gate.
PATIENCE_SECONDS = 120.0


def seed(default):
    """CALLFOLD_CHAOS_SEED, to repeat a run that failed."""
    return int(os.environ.get("CALLFOLD_CHAOS_SEED", default))


#: What a run that stands still may wait for.
STANDING = (
    "SELECT state, alone, available_at, published_at, publishes, lease_until FROM items WHERE lane IS NOT NULL",
    "SELECT * FROM gates",
    "SELECT *, clock_timestamp() FROM reconciler",
    "SELECT application_name, state, wait_event, state_change, pg_blocking_pids(pid) FROM pg_stat_activity",
)


class Chaos:
    """A job of `number` documents that the seed makes; `hire` sets the crew to work on them, `run` does it."""

    def __init__(self, seed, number):
        print(f"CALLFOLD_CHAOS_SEED={seed}")  # noqa: T201 - pytest shows it where the test fails
        self._random = Random(seed)  # noqa: S311 - chance that can be repeated
        self._documents = [call(f"call-{n:04}", PROMISE.format(n=n), account=f"account-{n % 7}") for n in range(number)]
        self._steps = dict(zip((one.document_id for one in self._documents), self._scripted(), strict=True))

    def hire(self, crew, **options):
        """Have the crew work by this seed's script."""
        crew.work({"documents": self._steps}, **options)

    def run(self, crew, desk, servers, broker, rounds):
        """Run the job through so many rounds of faults; check rows, actions, calls and versions. Returns figures."""
        plan = self._plan(rounds, crew, desk, servers, broker)
        job_id = desk.submit(self._documents, concurrency=2 * SLOTS)
        with desk.watched(job_id) as versions, _explained(desk):
            for settled, kind, fault in plan:
                desk.until_settled(job_id, settled, PATIENCE_SECONDS, meanwhile=crew.tend)
                print(f"{settled} final: {kind}")  # noqa: T201 - see above
                fault()
                wait_for(desk.answers)
            bundle = desk.bundle(job_id, PATIENCE_SECONDS, meanwhile=crew.tend)
        self._check_rows(bundle)
        asked, attempts = self._check_calls(crew, desk, job_id)
        job = desk.query("SELECT created_at, ended_at, version FROM jobs WHERE job_id = %s", job_id)[0]
        return {
            "seconds": round((job.ended_at - job.created_at).total_seconds()),
            "faults": len(plan),
            "attempts": len(attempts),
            "attempts_lost": sum(attempt.outcome in {"lost", "late"} for attempt in attempts),
            "calls": asked,
            "states": dict(Counter(row["state"] for row in bundle.rows)),
            "versions": job.version,
            "versions_watched": len(set(versions) - {0}),
        }

    def _scripted(self):
        """Steps for each document: every class fails at least twice, and two in a hundred documents more do."""
        number = len(self._documents)
        fails = [[_fail(code)] for code in (*CODES, *CODES)]
        fails += [[_fail(self._random.choice(CODES)), _fail(self._random.choice(CODES))] for _ in range(number // 50)]
        fails += [[{"do": "crash"}] for _ in range(1 + number // 250)]
        fails += [[] for _ in range(number - len(fails))]
        self._random.shuffle(fails)
        for n, before in enumerate(fails):
            result = succeed(follow_up(f"Minutes {n}", PROMISE.format(n=n)), seconds=self._random.uniform(0.01, 0.1))
            yield [*before, result]

    def _plan(self, rounds, crew, desk, servers, broker):
        """Every kind of fault once in each round, each round in another order, spread over the run."""
        kinds = {
            "the process worker is killed": crew.process.kill,
            "the alone worker is killed": crew.alone.kill,
            "the control worker is killed": crew.control.kill,
            "the process worker is stopped past its lease": lambda: stop_past_the_lease(crew.process, desk),
            "PostgreSQL is killed": lambda: kill_server(servers, "postgres"),
            "PostgreSQL drops its connections": lambda: drop_database_connections(desk),
            "Redis is killed": lambda: kill_server(servers, "redis"),
            "the broker loses its messages": broker.lose_messages,
            "the broker drops its connections": broker.drop_connections,
        }
        if broker.name == "RabbitMQ" and "AMQP_RESTART" in os.environ:
            kinds["RabbitMQ is restarted"] = broker.restart
        chosen = [kind for _ in range(rounds) for kind in self._random.sample(sorted(kinds), len(kinds))]
        every = len(self._documents) // (len(chosen) + 1)
        return [(n * every, kind, kinds[kind]) for n, kind in enumerate(chosen, 1)]

    def _check_rows(self, bundle):
        for row in bundle.rows:
            ends = _may_end_as(self._steps[row["document_id"]])
            assert row["error_code"] in ends, f"{row['document_id']} is {row['state']}, {row['error_code']}"
        succeeded = [n for n, row in enumerate(bundle.rows) if row["state"] == "succeeded"]
        assert sorted(action["text"] for action in bundle.actions) == sorted(f"Minutes {n}" for n in succeeded)

    def _check_calls(self, crew, desk, job_id):
        """No call twice within one attempt, none outside of one, and one attempt for each result."""
        attempts = desk.attempts(job_id)
        asked = [(one["document_id"], one["attempt"], one["sequence"]) for one in crew.calls()]
        assert len(asked) == len(set(asked))
        known = {(self._documents[attempt.position].document_id, attempt.number) for attempt in attempts}
        assert {ask[:2] for ask in asked} <= known
        applied = Counter(attempt.position for attempt in attempts if attempt.outcome == "succeeded")
        assert set(applied.values()) == {1}
        return len(asked), attempts


@contextmanager
def _explained(desk):
    """Print how everything stands when the run fails: no second run stands still at the same point."""
    try:
        yield
    except AssertionError:
        for statement in STANDING:
            print(statement, *desk.query(statement), sep="\n    ")  # noqa: T201 - see above
        raise


def stop_past_the_lease(member, desk):
    """Stop a worker until the ledger has taken what it holds; then let it go on with it."""
    lost = "SELECT count(*) FROM attempts WHERE outcome = 'lost'"
    before = desk.query(lost)
    member.pause()
    try:
        wait_for(lambda: desk.query(lost) != before or not desk.query("SELECT 1 FROM items WHERE state = 'running'"))
    finally:
        member.resume()


def _fail(code):
    return {"do": "fail", "code": code, **({"retry_after": 0.2} if code == "rate_limited" else {})}


def _may_end_as(steps):
    """The codes that the document's failures allow; None, a success, always is: a lost attempt skips its step."""
    failures = Counter(step["code"] for step in steps if step["do"] == "fail")
    return {None} | {code for code, times in failures.items() if times >= (POLICIES[code].tries or times + 1)}
