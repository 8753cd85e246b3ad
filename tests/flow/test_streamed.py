"""A model's text is streamed into the ledger: kill -9 in the middle of it, and only the rest is paid again."""

from itertools import count

import pytest
from crew import wait_for
from scripted import call

from benchmarks.model_server import answer, serving, whole
from pipeline.ledger import checkpoints, costs

SAID = "I will send you the revised quote by Friday."
#: Forty sentences of four-letter pieces: each piece is a token.
TEXT = " ".join(f"This is what was said in part {number:02} of the long call that we had." for number in range(40))
PIECES = -(-len(TEXT) // 4)


class Provider:
    """Streams TEXT, the first time slowly; to who shows it a beginning of it, the rest."""

    def __init__(self):
        self._number = count(1)

    def __call__(self, asked):
        if asked.is_structured:
            return answer(asked)
        return whole(TEXT[len(shown(asked)) :], seconds=10.0 if next(self._number) == 1 else 0.0)


def shown(asked):
    """How much of TEXT the request holds, to the end of a sentence."""
    ends = [end + 1 for end, letter in enumerate(TEXT) if letter == "."]
    return max((TEXT[:end] for end in ends if TEXT[:end] in asked.words), key=len, default="")


@pytest.fixture
def server():
    with serving(Provider()) as started:
        yield started


def kept(desk, job_id):
    with desk.ledger.statement() as tx:
        return [one.text for one in checkpoints.of_item(tx, job_id, 0) if one.step == "summary"]


def test_of_a_text_whose_process_was_killed_only_the_rest_is_asked_for_again(crew, model_desk, server):
    job_id = model_desk.submit([call("long", SAID)], profile="model")
    # The second checkpoint: what came since the first would be lost without it.
    first = wait_for(lambda: kept(model_desk, job_id))
    wait_for(lambda: kept(model_desk, job_id) != first)
    crew.process.kill()
    (text,) = kept(model_desk, job_id)
    assert TEXT.startswith(text)
    assert text.endswith(".")
    bundle = model_desk.bundle(job_id, seconds=60, meanwhile=crew.tend)
    assert (bundle.rows[0]["summary"], bundle.rows[0]["attempt_count"]) == (TEXT, 2)

    killed, rest = [asked for asked in server.asked if not asked.is_structured]
    assert (killed.ended, rest.ended) == ("left", "whole")
    assert shown(rest) == text
    assert len(killed.text) < len(TEXT)
    # Paid: one pass, and at most what came after the last checkpoint (a piece may be cut by it).
    assert killed.pieces + rest.pieces <= PIECES + -(-(len(killed.text) - len(text)) // 4) + 1

    with model_desk.ledger.statement() as tx:
        found = {one.cause: one for one in costs.by_cause(tx, job_id, model_desk.settings.profile("model").prices)}
        assert checkpoints.of_item(tx, job_id, 0) == []
    assert set(found) == {"useful", "retried", "lost"}
    assert found["retried"].input_tokens == len(rest.words) // 4
    assert (found["useful"].calls, found["lost"].calls, found["lost"].unknown_calls) == (2, 1, 1)
    assert found["lost"].unknown_tokens > found["retried"].input_tokens - len(text) // 4
    assert model_desk.job(job_id).usage.unknown_calls == 1


def test_a_text_goes_on_and_is_paid_once_while_postgresql_is_away(crew, model_desk, server):
    job_id = model_desk.submit([call("long", SAID)], profile="model")
    wait_for(lambda: kept(model_desk, job_id))
    with model_desk.without_postgresql():
        wait_for(lambda: "keeper.not_kept" in crew.process.log.read_text())
        wait_for(lambda: server.asked[0].ended)
    bundle = model_desk.bundle(job_id, seconds=60, meanwhile=crew.tend)
    assert (bundle.rows[0]["summary"], bundle.rows[0]["attempt_count"]) == (TEXT, 1)
    assert [asked.is_structured for asked in server.asked] == [False, True]
