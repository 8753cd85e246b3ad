"""A case of the crash matrix: a small job, a process killed at one point, and what must hold when it has recovered."""

from dataclasses import dataclass

from crash_points import Point
from crew import wait_for
from scripted import call, follow_up, succeed

LANES = 3
PROMISE = "I will send you the minutes of call {name} tomorrow."
#: From the kill to the export.
RECOVERS_WITHIN_SECONDS = 30.0


def _call(name, account):
    return call(name, PROMISE.format(name=name), account=account)


#: More documents than lanes, in two merge groups.
DOCUMENTS = [_call(f"call-{n}", f"account-{n % 2}") for n in range(6)]
#: What gives the reconciler something to do: a document that must wait, and one whose worker dies with it.
WAITS, LOSES = _call("waits", "account-0"), _call("loses", "account-0")
BEFORE_SUCCESS = {
    "waits": [{"do": "fail", "code": "provider_unavailable"}],
    "loses": [{"do": "crash"}],
}
SCRIPT = {
    "documents": {
        name: [
            *BEFORE_SUCCESS.get(name, ()),
            succeed(follow_up(f"Minutes of {name}", PROMISE.format(name=name)), seconds=0.05),
        ]
        for name in (document.document_id for document in (*DOCUMENTS, WAITS, LOSES))
    }
}


@dataclass(frozen=True)
class Recovery:
    """What a case came to; `extra_calls` beyond one per document and one per failure of the script."""

    seconds: float
    killed_attempts: int
    extra_calls: int


def recover_from(point: Point, crew, desk, pool="threads") -> Recovery:
    """Run the job, be killed at the point, recover without help. The crew works by SCRIPT, with the app `crashing`."""
    documents = [*DOCUMENTS, *_extra(point)]
    crew.arm(point)
    job_id = desk.submit(documents, concurrency=LANES)
    with desk.watched(job_id):
        wait_for(lambda: crew.tend() or crew.killed_at(point))
        bundle = desk.bundle(job_id, RECOVERS_WITHIN_SECONDS, meanwhile=crew.tend)
    assert {row["state"] for row in bundle.rows} == {"succeeded"}
    assert sorted(action["text"] for action in bundle.actions) == sorted(
        f"Minutes of {document.document_id}" for document in documents
    )
    recovery = _measured(point, crew, desk, job_id, documents)
    assert recovery.killed_attempts <= _at_most(point, pool)
    assert recovery.extra_calls <= recovery.killed_attempts
    return recovery


def _extra(point):
    if point.hit == "alone" or "lost lease" in point.name:
        return [LOSES]
    return [WAITS] if point.hit == "reconcile" else []


def _measured(point, crew, desk, job_id, documents):
    """Every call belongs to an attempt of its own, so that only a killed attempt can have cost one more."""
    attempts = desk.attempts(job_id)
    asked = [(one["document_id"], one["attempt"]) for one in crew.calls()]
    assert len(asked) == len(set(asked))
    assert set(asked) <= {(documents[attempt.position].document_id, attempt.number) for attempt in attempts}
    ends = [attempt.outcome for attempt in attempts]
    assert set(ends) <= {"succeeded", "requeued", "lost"}
    assert ends.count("succeeded") == len(documents)
    [(frozen_at,)] = desk.query("SELECT frozen_at FROM exports WHERE job_id = %s", job_id)
    return Recovery(
        seconds=round(max(0.0, frozen_at.timestamp() - crew.killed_at(point)), 1),
        killed_attempts=ends.count("lost") - documents.count(LOSES),
        extra_calls=len(asked) - len(documents) - documents.count(WAITS) - documents.count(LOSES),
    )


def _at_most(point, pool):
    """A prefork child dies with its own attempt; a worker whose main process dies, with those of all lanes."""
    if point.hit == "control":
        return 0
    return 1 if (point.hit, pool) == ("process", "prefork") else LANES
