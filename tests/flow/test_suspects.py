"""One document that kills its process: its neighbours are lost with it once, and then it dies alone."""

from crew import SLOTS
from scripted import call, calls, succeed, until

OTHERS = calls(63)
#: They are with the summarizer when the first kill comes.
NEIGHBOURS = OTHERS[: SLOTS - 1]
SCRIPT = {
    "documents": {
        "poison": [{"do": "crash", **until("all-are-there")}],
        **{one.document_id: [succeed(**until("never")), succeed()] for one in NEIGHBOURS},
    }
}


def test_of_64_documents_the_one_that_kills_its_process_fails_alone(crew, open_desk):
    crew.work(SCRIPT)
    desk = open_desk()
    job_id = desk.submit([call("poison"), *OTHERS], concurrency=SLOTS)
    with desk.watched(job_id):
        desk.until_running(job_id, *range(SLOTS))
        crew.give("all-are-there")
        bundle = desk.bundle(job_id, seconds=90, meanwhile=crew.tend)
    found = [(row["state"], row["error_code"], row["attempt_count"]) for row in bundle.rows]
    assert found[0] == ("failed", "worker_lost", 4)
    assert found[1:SLOTS] == [("succeeded", None, 2)] * (SLOTS - 1)
    assert found[SLOTS:] == [("succeeded", None, 1)] * (64 - SLOTS)
    attempts = desk.attempts(job_id)
    assert [one.alone for one in attempts if one.position == 0] == [False, True, True, True]
    assert sum(one.outcome == "lost" for one in attempts) == SLOTS + 3
    asked = [(one["document_id"], one["attempt"]) for one in crew.calls()]
    assert len(asked) == len(set(asked)) == 64 + (SLOTS - 1) + 3
