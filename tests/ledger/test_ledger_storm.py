"""A storm of submissions under few keys: each key gets one job, whoever comes first."""

from collections import defaultdict

from ledger_rows import check, document, rows, value

from pipeline.errors import IdempotencyConflict
from pipeline.ledger.connection import Ledger
from pipeline.stages.submit import submit

SUBMISSIONS = 200
KEYS = 20
BODIES = 3


def test_of_200_submissions_at_once_each_of_20_keys_keeps_one_job_and_the_others_get_it_or_a_conflict(
    ledger, database, settings, together
):
    many = Ledger(database, pool=25)

    def send(number):
        key, body = f"key-{number % KEYS}", number // KEYS % BODIES
        documents = [document(100 * body + place, f"Body {body} says it.") for place in range(2 + body)]
        try:
            return key, body, submit(many, settings, iter(documents), {}, key)
        except IdempotencyConflict as conflict:
            return key, body, conflict

    answers = together(*[lambda n=number: send(n) for number in range(SUBMISSIONS)])
    many.close()

    by_key = defaultdict(list)
    for key, body, answer in answers:
        by_key[key].append((body, answer))
    assert len(by_key) == KEYS
    documents = 0
    for key, given in by_key.items():
        documents += check_one_key(ledger, key, given)
    assert value(ledger, "SELECT count(*) FROM jobs") == value(ledger, "SELECT count(*) FROM idempotency_keys") == KEYS
    # Whoever came second gave his texts up.
    assert value(ledger, "SELECT count(*) FROM texts") == value(ledger, "SELECT count(*) FROM items") == documents
    assert value(ledger, "SELECT count(*) FROM uploads") == 0


def check_one_key(ledger, key, given):
    """One job; its own body gets it, every other body a conflict that shows both. Returns its number of documents."""
    ((job_id, digest, total),) = rows(ledger, "SELECT job_id, digest, total FROM jobs WHERE idempotency_key = %s", key)
    (winner,) = [body for body, answer in given if getattr(answer, "created", False)]
    assert total == 2 + winner
    for body, answer in given:
        if body == winner:
            assert (answer.job_id, answer.digest) == (job_id, digest)
        else:
            assert isinstance(answer, IdempotencyConflict)
            assert answer.job_id == str(job_id)
            assert digest in str(answer)
    check(ledger, job_id)
    return total
