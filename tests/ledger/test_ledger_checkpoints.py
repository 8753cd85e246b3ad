"""What an attempt has written survives it, for the attempt that comes next and for no other text."""

import random
from dataclasses import replace
from itertools import count
from threading import Event, Thread
from time import monotonic, sleep

import pytest
from ledger_bench import Does, work_off
from ledger_rows import check, checkpoint, item, new_job, rows, submitted, update, value, wait_for_waiters

from pipeline.errors import ItemFailure, StaleArrow
from pipeline.ledger import checkpoints, items, jobs, leases, sweeps
from pipeline.ledger.items import Held, Outcome
from pipeline.stages import keeper as keeping
from pipeline.stages.admit import admit
from pipeline.stages.keeper import Keeper, Manuscript, Pen
from pipeline.stages.process import process
from pipeline.stages.reconcile import ORPHAN_SECONDS, reconcile
from pipeline.summarizers.port import Demand, Origin, Step

ORIGIN = Origin("0" * 64, "summary-1", "m", '{"temperature":0}', 7)
STEP = Step("summary")
TWO = "We talked. They will sign."


@pytest.fixture
def worker(bench):
    """Works off one document whose attempts do, one after the other, what each of the given functions does."""

    def work(ledger, settings, *turns):
        todo = list(turns)
        made = bench(summarizer=Does(lambda _, attempt: todo.pop(0)(attempt)))
        job_id = submitted(ledger, settings, 1)
        work_off(made, admit(ledger, job_id).released[0])
        while todo:
            update(ledger, "items", "available_at = clock_timestamp()", "job_id = %(job)s", job=job_id)
            for command in reconcile(ledger, settings.lease_seconds, "w"):
                if hasattr(command, "released"):
                    work_off(made, command.released)
        return job_id

    return work


def breaks_off(words, *finished, origin=ORIGIN, code="provider_unavailable"):
    """An attempt that finishes these chunks, and whose next text is cut off."""

    def turn(attempt):
        for chunk, text in enumerate(finished):
            writing = attempt.writing(Step("map", chunk), origin)
            writing.add(text)
            writing.finish(10 * (chunk + 1))
        with attempt.call(STEP, Demand(10, 10)):
            attempt.writing(STEP, origin).add(words)
            raise ItemFailure(code, "cut off")

    return turn


class Finds:
    """An attempt that only looks at what it finds."""

    def __init__(self, step=STEP, origin=ORIGIN):
        self.step, self.origin = step, origin

    def __call__(self, attempt):
        writing = attempt.writing(self.step, self.origin)
        self.text, self.done = writing.text, writing.done


def test_a_text_that_broke_off_is_gone_on_with_after_its_last_whole_sentence(ledger, settings, worker):
    second = Finds()
    job_id = worker(ledger, settings, breaks_off(TWO + " And th"), second)
    assert (second.text, second.done) == (TWO, False)
    assert item(ledger, job_id).state == "succeeded"
    check(ledger, job_id)  # and nothing is kept of what is final


def test_a_text_outlives_attempts_that_add_nothing_to_it(ledger, settings, worker):
    third = Finds()
    worker(ledger, settings, breaks_off(TWO + " And th"), breaks_off(""), third)
    assert (third.text, third.done) == (TWO, False)


def test_a_chunk_that_was_finished_is_there_as_it_was_and_the_next_one_is_not(ledger, settings, worker):
    first, next_one = Finds(Step("map", 1)), Finds(Step("map", 2))
    worker(ledger, settings, breaks_off("", "one", "two"), lambda attempt: (first(attempt), next_one(attempt)))
    assert (first.text, first.done) == ("two", True)
    assert (next_one.text, next_one.done) == ("", False)


@pytest.mark.parametrize(
    "other",
    [{"input_sha256": "1" * 64}, {"prompt_version": "2"}, {"model": "n"}, {"parameters": "{}"}, {"seed": None}],
    ids=lambda other: next(iter(other)),
)
def test_a_checkpoint_of_another_origin_is_ignored(ledger, settings, worker, other):
    second = Finds(origin=replace(ORIGIN, **other))
    worker(ledger, settings, breaks_off(TWO + " ", "one"), second)
    assert (second.text, second.done) == ("", False)


def test_a_text_that_was_restarted_is_not_gone_on_with(ledger, settings, worker):
    def restarts(attempt):
        writing = attempt.writing(STEP, ORIGIN)
        assert writing.text == TWO
        writing.restart()
        raise ItemFailure("provider_unavailable", "cut off")

    third = Finds()
    worker(ledger, settings, breaks_off(TWO + " "), restarts, third)
    assert third.text == ""


def test_a_text_asked_for_again_in_the_same_attempt_is_the_one_that_is_being_written(ledger, settings, worker):
    def twice(attempt):
        attempt.writing(STEP, ORIGIN).add("Once. ")
        attempt.writing(STEP, ORIGIN).add("Twice.")
        assert attempt.writing(STEP, ORIGIN).text == "Once. Twice."

    worker(ledger, settings, twice)


def test_words_that_postgresql_cannot_hold_are_kept_as_it_can(ledger, settings, worker):
    second = Finds()
    worker(ledger, settings, breaks_off("A \x00 and a \ud800. "), second)
    assert second.text == "A \ufffd and a \ufffd."


def held(ledger, job_id, position=0):
    attempt_id = value(ledger, "SELECT attempt_id FROM items WHERE job_id = %s AND position = %s", job_id, position)
    return Held(job_id, position, attempt_id, 1, 0, alone=False, losses_alone=0)


def manuscript(one, text=TWO + " ", step=STEP):
    written = Manuscript(
        Pen(one.job_id, one.position, one.attempt_id), step, ORIGIN, None, keep=lambda _: None, show=lambda *_: None
    )
    written.add(text)
    return written


def kept(ledger, job_id, position=0):
    with ledger.statement() as tx:
        return [(one.text, one.done) for one in checkpoints.of_item(tx, job_id, position)]


def keep_whole(ledger, row):
    with ledger.transaction() as tx:
        sql, parameters = checkpoints.keeping(row)
        return tx.exec_driver_sql(sql, tuple(parameters)).rowcount


def test_a_whole_text_waits_for_whoever_has_its_item_locked(ledger):
    job_id = new_job(ledger, ["running"])
    row = checkpoint(held(ledger, job_id), 40, 1, done=True)
    with ledger.transaction() as other:
        other.exec_driver_sql("SELECT 1 FROM items WHERE job_id = %s FOR UPDATE", (job_id,))
        with ledger.statement() as tx:
            assert checkpoints.keep(tx, [row]) == set()  # the keeper's statement waits for nobody
        storing = Thread(target=keep_whole, args=(ledger, row))
        storing.start()
        wait_for_waiters(ledger, 1)
    storing.join(30)
    assert kept(ledger, job_id) == [("The first sentence.", True)]


def test_an_older_draft_that_comes_late_does_not_undo_a_whole_text(ledger):
    job_id = new_job(ledger, ["running"])
    text = manuscript(held(ledger, job_id))
    draft = text.draft()
    text.finish(50)
    assert keep_whole(ledger, text.draft()) == 1
    with ledger.statement() as tx:
        assert checkpoints.keep(tx, [draft]) == set()
    assert kept(ledger, job_id) == [(TWO + " ", True)]
    assert item(ledger, job_id).progress == 50


def test_a_draft_that_is_under_way_does_not_undo_a_restart(ledger):
    """The keeper drafted what the slot then refused, and nobody has heard of that statement yet."""
    job_id = new_job(ledger, ["running"])
    text = manuscript(held(ledger, job_id))
    draft = text.draft()
    text.restart()
    restarted = text.draft()
    assert keep_whole(ledger, restarted) == 1
    with ledger.statement() as tx:
        assert checkpoints.keep(tx, [draft]) == set()
    assert kept(ledger, job_id) == [("", False)]
    text.tried(draft, kept=True)  # its answer comes late, and says nothing of what is kept
    text.tried(restarted, kept=True)
    assert text.draft() is None


def test_a_draft_that_was_kept_in_the_moment_of_a_restart_is_overwritten(ledger):
    job_id = new_job(ledger, ["running"])
    text = manuscript(held(ledger, job_id))
    draft = text.draft()
    text.restart()
    with ledger.statement() as tx:
        assert checkpoints.keep(tx, [draft])
    text.tried(draft, kept=True)
    assert keep_whole(ledger, text.draft()) == 1
    assert kept(ledger, job_id) == [("", False)]


def test_a_restart_leaves_nothing_bad_for_whoever_comes_after_a_kill(ledger, settings, worker):
    """What an earlier attempt left is overwritten at once; where nothing was kept, nothing is written."""
    seen = []

    def restarts(attempt):
        for step in (STEP, Step("map", 1)):
            attempt.writing(step, ORIGIN).restart()
        seen.extend(rows(ledger, "SELECT step, text FROM checkpoints"))

    worker(ledger, settings, breaks_off(TWO + " "), restarts)
    assert seen == [("summary", "")]


def test_a_whole_text_whose_answer_was_lost_is_stored_once(ledger):
    job_id = new_job(ledger, ["running"])
    text = manuscript(held(ledger, job_id))
    text.finish(50)
    row = text.draft()
    assert [keep_whole(ledger, row), keep_whole(ledger, row)] == [1, 0]
    assert kept(ledger, job_id) == [(TWO + " ", True)]


def test_an_attempt_that_was_overtaken_keeps_nothing_and_goes_on(ledger, settings, bench):
    """It has lost its lease, another one has begun: what it finishes is refused at once."""
    job_id = submitted(ledger, settings, 1)
    turns, texts = [], []

    def slow(_request, attempt):
        if not turns:
            turns.append("first")
            lose_and_start_again()
        writing = attempt.writing(STEP, ORIGIN)
        writing.add(f"Of attempt {attempt.number}. ")
        writing.finish(50)
        texts.append(kept(ledger, job_id))

    def lose_and_start_again():
        update(ledger, "items", "lease_until = clock_timestamp() - interval '1 s'", "job_id = %(job)s", job=job_id)
        for command in reconcile(ledger, 60.0, "w"):
            if hasattr(command, "released"):
                work_off(worker, command.released)
        assert item(ledger, job_id).state == "succeeded"

    worker = bench(summarizer=Does(slow))
    work_off(worker, admit(ledger, job_id).released[0])
    assert texts == [[("Of attempt 2. ", True)], []]
    assert rows(ledger, "SELECT number, outcome FROM attempts WHERE job_id = %s ORDER BY number", job_id) == [
        (1, "late"),
        (2, "succeeded"),
    ]
    check(ledger, job_id)


def test_an_attempt_that_lost_its_lease_and_works_on_leaves_its_whole_text_to_the_next(ledger):
    """It is paid for, and the document may wait for minutes until another attempt begins."""
    job_id = new_job(ledger, ["suspect"])
    text = manuscript(held(ledger, job_id))
    draft = text.draft()
    text.finish(50)
    assert keep_whole(ledger, text.draft()) == 1
    with ledger.statement() as tx:
        assert checkpoints.keep(tx, [draft]) == set(), "a draft that comes late"
    assert kept(ledger, job_id) == [(TWO + " ", True)]
    assert (item(ledger, job_id).progress, item(ledger, job_id).state) == (0, "pending")
    check(ledger, job_id)


def test_a_worker_that_ends_begins_no_other_call_and_hands_the_document_back(ledger, settings, bench):
    job_id = submitted(ledger, settings, 1)
    steps = []

    def two_calls(_request, attempt):
        for number in (1, 2):
            with attempt.call(Step("map", number), Demand(1, 1)):
                steps.append(number)

    ending = replace(bench(summarizer=Does(two_calls)), ending=lambda: bool(steps))
    process(ending, admit(ledger, job_id).released[0])
    waiting = item(ledger, job_id)
    assert (steps, waiting.attempt_count, waiting.charged) == ([1], 1, 0)
    assert waiting.state == "released", "to whoever consumes its message"


def test_no_call_lasts_past_the_jobs_deadline(ledger, settings, bench):
    job_id = submitted(ledger, settings, 1, deadline_seconds=100)
    left = []

    def one_call(_request, attempt):
        with attempt.call(STEP, Demand(1, 1)) as call:
            left.append(call.seconds)

    work_off(bench(summarizer=Does(one_call)), admit(ledger, job_id).released[0])
    assert 0 < left[0] <= 100


@pytest.fixture
def keeper(ledger, monkeypatch):
    """A keeper for which every text is due at each of its looks."""
    monkeypatch.setattr(keeping, "_LOOK_SECONDS", 0.02)
    monkeypatch.setattr(keeping.Cadence, "due", lambda cadence, *_: cadence.characters > 0)
    made = Keeper(ledger)
    yield made
    made.stop()


def wait_for(condition):
    deadline = monotonic() + 30
    while not condition():
        assert monotonic() < deadline
        sleep(0.01)


def test_the_keepers_thread_keeps_the_texts_of_all_attempts_and_tries_a_locked_one_again(ledger, keeper):
    job_id = new_job(ledger, ["running", "running"])
    texts = [manuscript(held(ledger, job_id, position)) for position in (0, 1)]
    with ledger.transaction() as other:
        other.exec_driver_sql("SELECT 1 FROM items WHERE job_id = %s AND position = 0 FOR UPDATE", (job_id,))
        for text in texts:
            keeper.watch(text)
        wait_for(lambda: kept(ledger, job_id, 1) == [(TWO, False)])
        assert kept(ledger, job_id, 0) == []
    wait_for(lambda: kept(ledger, job_id, 0) == [(TWO, False)])
    texts[0].add("It goes on. ")
    wait_for(lambda: kept(ledger, job_id, 0) == [(TWO + " It goes on.", False)])
    check(ledger, job_id)


def test_the_keepers_thread_outlives_an_error_and_a_slot_goes_on_writing_meanwhile(ledger, keeper):
    job_id = new_job(ledger, ["running"])
    text = manuscript(held(ledger, job_id))
    with ledger.transaction() as tx:
        tx.exec_driver_sql("ALTER TABLE checkpoints RENAME TO hidden")
    keeper.watch(text)
    tried = []
    watched = text.tried
    text.tried = lambda row, *, kept: (watched(row, kept=kept), tried.append(kept))
    wait_for(lambda: tried)
    text.add("It goes on. ")
    assert not any(tried)
    with ledger.transaction() as tx:
        tx.exec_driver_sql("ALTER TABLE hidden RENAME TO checkpoints")
    wait_for(lambda: kept(ledger, job_id) == [(TWO + " It goes on.", False)])


def test_what_nobody_has_changed_for_a_day_is_forgotten(ledger, settings):
    job_id = new_job(ledger, ["running", "running"])
    with ledger.statement() as tx:
        checkpoints.keep(tx, [checkpoint(held(ledger, job_id, position), 40, 1) for position in (0, 1)])
    old = f"updated_at = clock_timestamp() - interval '{ORPHAN_SECONDS + 1} s'"
    update(ledger, "checkpoints", old, "position = 1")
    reconcile(ledger, settings.lease_seconds, "w")
    assert (len(kept(ledger, job_id, 0)), len(kept(ledger, job_id, 1))) == (1, 0)


class Storm:
    """All that locks items and checkpoints, each over and over in a thread of its own, until it is `over`."""

    def __init__(self, ledger, job_id, documents):
        self.ledger, self.job_id, self.documents = ledger, job_id, documents
        self.held = [held(ledger, job_id, position) for position in range(documents)]
        self.over, self.faults, self.stored, self.threads = Event(), [], 0, []
        self._cursors = count(1)

    def begin(self, *steps):
        for step in steps:
            self.threads.append(Thread(target=self._repeat, args=(step, random.Random(step.__name__))))  # noqa: S311
            self.threads[-1].start()

    def _repeat(self, step, chance):
        while not self.over.is_set():
            try:
                step(chance)
            except StaleArrow:
                continue
            except Exception as error:  # noqa: BLE001 - a deadlock is what is looked for
                self.faults.append(f"{step.__name__}: {error}")
                return

    def keeps(self, chance):
        chosen = chance.sample(self.held, 8)
        with self.ledger.statement() as tx:
            self.stored += len(checkpoints.keep(tx, [checkpoint(one, 40, next(self._cursors)) for one in chosen]))

    def finishes(self, chance):
        one, chunk = chance.choice(self.held), chance.randrange(3)
        self.stored += keep_whole(self.ledger, checkpoint(one, 40, next(self._cursors), chunk=chunk, done=True))

    def renews(self, _):
        with self.ledger.statement() as tx:
            leases.renew(tx, [one.attempt_id for one in self.held], 60.0)

    def settles(self, chance):
        one = chance.choice(self.held)
        with self.ledger.transaction() as tx:
            job, before = jobs.lock(tx, self.job_id), item(tx, self.job_id, one.position)
            ended = replace(before, state="failed", error_code="not_a_call", finished_at=job.now)
            items.settle(tx, job, one, ended, "failed", Outcome("failed", "not_a_call", "why"))

    def forgets(self, _):
        with self.ledger.statement() as tx:
            checkpoints.sweep(tx, 0.0)

    def fails(self, chance):
        with self.ledger.transaction() as tx:
            sweeps.failed_by_operator(tx, jobs.lock(tx, self.job_id), chance.randrange(self.documents))

    def running(self):
        return value(self.ledger, "SELECT running FROM jobs WHERE job_id = %s", self.job_id)


def test_checkpoints_and_all_that_locks_items_never_wait_for_each_other_in_a_ring(ledger):
    job_id = new_job(ledger, ["running"] * 24)
    storm = Storm(ledger, job_id, 24)
    storm.begin(storm.keeps, storm.keeps, storm.finishes, storm.renews, storm.forgets)
    wait_for(lambda: storm.stored > 300 or storm.faults)
    storm.begin(storm.settles)
    wait_for(lambda: storm.running() <= 12 or storm.faults)
    storm.begin(storm.fails)
    wait_for(lambda: storm.running() <= 6 or storm.faults)
    with ledger.transaction() as tx:
        tx.exec_driver_sql("UPDATE jobs SET expires_at = clock_timestamp() WHERE job_id = %s", (job_id,))
        sweeps.expired(tx, jobs.lock(tx, job_id))
    storm.over.set()
    for thread in storm.threads:
        thread.join(60)
    assert storm.faults == []
    assert storm.running() == 0
    check(ledger, job_id)
