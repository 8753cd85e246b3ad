"""Admission: a request is stored once, whole or not at all, whoever else submits it at the same moment."""

import json
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from threading import Barrier
from uuid import UUID, uuid4

import pytest
from ledger_rows import document, rows, submitted, update, value

from pipeline.domain.documents import DocumentInput, Fault, Turn, Warning
from pipeline.errors import IdempotencyConflict, InvalidRequest, NotFound, Problem
from pipeline.ledger import submissions
from pipeline.ledger.connection import Ledger
from pipeline.ledger.submissions import TEXTS_PER_TRANSACTION
from pipeline.stages.cancel import cancel
from pipeline.stages.reconcile import reconcile
from pipeline.stages.submit import submit
from pipeline.transcripts.batch import incoming

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def hand_in(ledger, settings):
    """Submits documents: hand_in([document(0)], key="k", require="all")."""

    def call(documents, key=None, **options):
        return submit(ledger, settings, documents, options, key)

    return call


def bad(number, code="empty_input", detail="the file is empty"):
    good = document(number)
    return good.model_copy(update={"transcript": None, "fault": Fault(code=code, detail=detail)})


def test_fifty_submissions_of_one_key_at_once_are_one_job(ledger, hand_in):
    barrier = Barrier(50)

    def one(_):
        barrier.wait()
        return hand_in([document(number) for number in range(5)], key="night")

    with ThreadPoolExecutor(50) as pool:
        found = list(pool.map(one, range(50)))
    assert len({one.job_id for one in found}) == 1
    assert Counter(one.created for one in found) == {True: 1, False: 49}
    assert value(ledger, "SELECT count(*) FROM jobs") == 1
    assert rows(ledger, "SELECT job_id, count(*) FROM items GROUP BY job_id") == [(found[0].job_id, 5)]
    # The losers' texts and uploads are gone.
    assert rows(ledger, "SELECT job_id, count(*) FROM texts GROUP BY job_id") == [(found[0].job_id, 5)]
    assert value(ledger, "SELECT count(*) FROM uploads") == 0


def test_the_same_request_finds_its_job_whatever_has_become_of_it(ledger, hand_in):
    first = hand_in([document(0)], key="k")
    cancel(ledger, first.job_id)
    again = hand_in([document(0)], key="k")
    assert (again.job_id, again.digest, again.created) == (first.job_id, first.digest, False)


def test_another_request_under_a_taken_key_is_a_conflict_that_shows_both_digests(ledger, hand_in):
    first = hand_in([document(0)], key="k")
    with pytest.raises(IdempotencyConflict) as conflict:
        hand_in([document(1)], key="k")
    error = conflict.value
    assert (error.job_id, error.stored_digest) == (str(first.job_id), first.digest)
    assert error.given_digest not in {first.digest, ""}
    assert first.digest in str(error)
    assert error.given_digest in str(error)
    assert value(ledger, "SELECT count(*) FROM texts") == 1


def test_a_conflict_that_is_noticed_only_at_the_key_leaves_no_texts(ledger, hand_in, monkeypatch):
    hand_in([document(0)], key="k")
    monkeypatch.setattr("pipeline.stages.submit._holder", lambda *_: None)
    with pytest.raises(IdempotencyConflict):
        hand_in([document(1)], key="k")
    assert value(ledger, "SELECT count(*) FROM texts") == 1
    assert value(ledger, "SELECT count(*) FROM uploads") == 0


def test_the_same_content_under_another_key_names_the_job_that_has_it_while_that_is_unfinished(ledger, hand_in):
    first = hand_in([document(0)], key="first")
    second = hand_in([document(0)], key="second")
    assert second.digest == first.digest
    assert same_content(ledger, second) == first.job_id
    for job in (first, second):
        cancel(ledger, job.job_id)
    assert same_content(ledger, hand_in([document(0)], key="third")) is None


def test_without_a_key_the_digest_is_the_key(hand_in):
    first = hand_in([document(0)])
    assert first.key == f"cli-{first.digest}"
    assert hand_in([document(0)]) == type(first)(first.job_id, first.key, first.digest, created=False)


@pytest.mark.parametrize("key", ["", "x" * 513, "two\nlines", "nul\x00", "half \ud800"])
def test_a_key_that_cannot_be_stored_is_refused(hand_in, key):
    with pytest.raises(InvalidRequest, match="key"):
        hand_in([document(0)], key=key)


def test_every_problem_of_a_batch_is_listed_and_nothing_is_stored(ledger, hand_in):
    documents = [
        document(0),
        Problem("calls.ndjson:2", "document_id: missing"),
        document(0).model_copy(update={"place": "calls.ndjson:3"}),
        document(1),
        Problem("calls.ndjson:5", "account_id: missing"),
    ]
    with pytest.raises(InvalidRequest) as refused:
        hand_in(documents)
    assert [problem.place for problem in refused.value.problems] == [
        "calls.ndjson:2",
        "calls.ndjson:3",
        "calls.ndjson:5",
    ]
    assert "place 0" in refused.value.problems[1].message
    for table in ("jobs", "items", "texts", "uploads", "idempotency_keys", "events"):
        assert value(ledger, f"SELECT count(*) FROM {table}") == 0


def test_a_document_that_comes_twice_from_one_place_is_a_duplicate(hand_in):
    with pytest.raises(InvalidRequest, match="the same as at place 0"):
        hand_in([document(0), document(0)])


def test_a_batch_without_documents_is_refused(hand_in):
    with pytest.raises(InvalidRequest, match="no documents"):
        hand_in([])


def test_an_unknown_option_or_profile_is_refused_before_anything_is_read(hand_in):
    def documents():
        pytest.fail("read")
        yield

    with pytest.raises(InvalidRequest, match="option speed"):
        hand_in(documents(), speed=9)
    with pytest.raises(NotFound, match="gpt"):
        hand_in(documents(), profile="gpt")
    with pytest.raises(InvalidRequest, match="option budget_usd"):
        hand_in(documents(), budget_usd=float("nan"))


def test_a_bad_document_is_born_a_failed_row(ledger, hand_in):
    job = hand_in([document(0), bad(1), bad(2, "unreadable_input", "not text")])
    found = rows(
        ledger,
        "SELECT position, state, error_code, error_detail, attempt_count, finished_at IS NOT NULL FROM items "
        "WHERE job_id = %s ORDER BY position",
        job.job_id,
    )
    assert found == [
        (0, "pending", None, None, 0, False),
        (1, "failed", "empty_input", "the file is empty", 0, True),
        (2, "failed", "unreadable_input", "not text", 0, True),
    ]
    assert rows(ledger, "SELECT state, version, total, pending, failed FROM jobs") == [("accepted", 1, 3, 1, 2)]
    assert rows(ledger, "SELECT position FROM texts") == [(0,)]
    assert rows(ledger, "SELECT version, kind FROM events") == [(1, "accepted")]


def test_identical_texts_are_two_rows_with_a_warning(ledger, hand_in):
    first, second = document(0), document(1)
    hand_in(
        [first, second.model_copy(update={"source_sha256": first.source_sha256, "warnings": (Warning(code="odd"),)})]
    )
    found = [json.loads(row[0]) for row in rows(ledger, "SELECT warnings FROM items ORDER BY position")]
    assert found == [
        [],
        [{"code": "odd", "place": None}, {"code": "identical_text", "place": "position 0"}],
    ]


def test_no_nul_character_and_no_lone_surrogate_is_stored(ledger, hand_in):
    given = [
        DocumentInput(document_id="text", account_id="a", transcript="one\x00two \ud800 three\n"),
        DocumentInput(
            document_id="turns", account_id="a", turns=(Turn(text="one\x00two three\udfff", speaker="A\x00"),)
        ),
    ]
    hand_in([incoming(one, "somewhere") for one in given])
    stored = [row[0] for row in rows(ledger, "SELECT turns FROM texts ORDER BY position")]
    assert [json.loads(turns)[0]["text"] for turns in stored] == [
        "one\ufffdtwo \ufffd three",
        "one\ufffdtwo three\ufffd",
    ]
    assert "\\u0000" not in "".join(stored)


def test_a_time_of_a_call_is_kept_in_utc(ledger, hand_in):
    hand_in([document(0, occurred_at="2026-03-04T10:30:00+05:30"), document(1)])
    found = rows(ledger, "SELECT occurred_at FROM items ORDER BY position")
    assert found == [(datetime(2026, 3, 4, 5, 0, tzinfo=UTC),), (None,)]


def test_more_texts_than_one_transaction_takes_are_all_there(ledger, hand_in):
    total = 2 * TEXTS_PER_TRANSACTION
    job = hand_in(map(document, range(total)))
    assert rows(ledger, "SELECT count(*), min(position), max(position) FROM texts") == [(total, 0, total - 1)]
    assert value(ledger, "SELECT total FROM jobs WHERE job_id = %s", job.job_id) == total


CHANGES = {
    "the order": lambda: ([document(1), document(0)], {}),
    "a field": lambda: ([document(0, owner_hint="Ann"), document(1)], {}),
    "a default that is given": lambda: ([document(0, consent_scope="default"), document(1)], {}),
    "one document less": lambda: ([document(0)], {}),
    "an option": lambda: ([document(0), document(1)], {"concurrency": 4}),
    "an option given as its default": lambda: ([document(0), document(1)], {"concurrency": 8}),
}


def test_the_digest_covers_order_fields_and_options_as_given(hand_in):
    digests = {hand_in(*pair, **options).digest for *pair, options in (make() for make in CHANGES.values())}
    plain = hand_in([document(0), document(1)]).digest
    assert len(digests | {plain}) == len(CHANGES) + 1
    assert hand_in([document(0), document(1)], key="again").digest == plain


def test_the_digest_covers_the_words(hand_in):
    def digest(text):
        given = DocumentInput(document_id="d", account_id="a", transcript=text)
        return hand_in([incoming(given, "somewhere")]).digest

    assert len({digest("Ann: hello there"), digest("Ann: hello there "), digest("Ann: hello\x00there")}) == 3


KILLED = """
import itertools, sys, uuid
from pipeline.ledger.connection import Ledger
from pipeline.ledger import submissions
from pipeline.ledger.submissions import TEXTS_PER_TRANSACTION, TextRow

def rows():
    for position in itertools.count():
        if position == 2 * TEXTS_PER_TRANSACTION + 7:
            print("copying", flush=True)
            sys.stdin.read()
        yield TextRow(position, "[]")

submissions.copy_texts(Ledger(sys.argv[1]), uuid.UUID(sys.argv[2]), rows())
"""


def test_a_killed_upload_leaves_only_texts_that_the_sweep_removes(ledger, database):
    made_up = uuid4()
    command = [sys.executable, "-c", KILLED, database, str(made_up)]
    with subprocess.Popen(command, cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as upload:
        assert upload.stdout.readline() == b"copying\n"
        upload.kill()
    assert value(ledger, "SELECT count(*) FROM texts") == 2 * TEXTS_PER_TRANSACTION
    assert value(ledger, "SELECT count(*) FROM jobs") == 0
    reconcile(ledger, 60.0, "w")
    assert value(ledger, "SELECT count(*) FROM texts") == 2 * TEXTS_PER_TRANSACTION
    update(ledger, "uploads", "started_at = started_at - interval '25 hours'", "true")
    reconcile(ledger, 60.0, "w")
    assert value(ledger, "SELECT count(*) FROM texts") == value(ledger, "SELECT count(*) FROM uploads") == 0


def test_the_sweep_never_takes_a_jobs_own_texts(ledger, settings):
    job_id = submitted(ledger, settings)
    submissions.discard_texts(ledger, job_id)
    assert value(ledger, "SELECT count(*) FROM texts WHERE job_id = %s", job_id) == 3


def test_an_upload_that_was_swept_meanwhile_is_refused(ledger, hand_in, monkeypatch):
    copy_texts = submissions.copy_texts

    def slow(ledger: Ledger, job_id: UUID, texts):
        copy_texts(ledger, job_id, texts)
        submissions.discard_texts(ledger, job_id)

    monkeypatch.setattr(submissions, "copy_texts", slow)
    with pytest.raises(InvalidRequest, match="submit it again"):
        hand_in([document(0)])
    assert value(ledger, "SELECT count(*) FROM jobs") == 0


MEASURED = """
import sys, tracemalloc
from pipeline.domain.documents import DocumentFields, IncomingDocument, Transcript, Turn
from pipeline.ledger.connection import Ledger
from pipeline.settings import Settings
from pipeline.stages.submit import submit

def documents(total):
    for number in range(total):
        fields = {"document_id": f"doc-{number}", "account_id": "acme"}
        yield IncomingDocument(
            fields=DocumentFields(**fields), source_sha256=f"{number:064x}", digest_fields=fields,
            transcript=Transcript(turns=(Turn(text="word " * 400),)), place=f"calls.ndjson:{number}")

ledger, settings = Ledger(sys.argv[1]), Settings(DATABASE_URL=None)
submit(ledger, settings, documents(10), {}, "warm")
for total in (1_000, 5_000):
    tracemalloc.start()
    submit(ledger, settings, documents(total), {}, str(total))
    print(tracemalloc.get_traced_memory()[1], flush=True)
    tracemalloc.stop()
"""


def test_five_thousand_documents_need_little_more_memory_than_one_thousand(database):
    """Held at once, the words would be 10 MB. What may grow is a hash and a place per document."""
    command = [sys.executable, "-c", MEASURED, database]
    measured = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    small, large = map(int, measured.stdout.split())
    assert large < small + 4_000 * 500


def same_content(ledger, job):
    return value(ledger, "SELECT same_content_as FROM jobs WHERE job_id = %s", job.job_id)
