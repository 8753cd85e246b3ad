"""Live text: a subscriber hears what is written as it is written; without Redis nobody waits, fails or says a word."""

import json
import socket
from uuid import uuid4

import pytest
import redis
from crew import wait_for

from tasks.live import Live, channel

DOCUMENT = (uuid4(), 7)


@pytest.fixture
def live_at():
    """Makes live channels and stops them."""
    made = []

    def make(url):
        made.append(Live(url))
        return made[-1]

    yield make
    for one in made:
        one.stop()


@pytest.fixture
def heard(servers):
    """What a subscriber has heard of the document until now, as messages."""
    with redis.Redis.from_url(servers.urls.result).pubsub(ignore_subscribe_messages=True) as subscriber:
        subscriber.subscribe(channel(*DOCUMENT))
        subscriber.get_message(timeout=10)  # the answer to it
        messages = []

        def until(number):
            def look():
                got = subscriber.get_message(timeout=0.1)
                messages.extend([json.loads(got["data"])] if got else [])
                return messages if sum(len(one["words"]) for one in messages) >= number else None

            return wait_for(look)

        yield until


def written(messages):
    """The text that a listener puts together."""
    text = ""
    for one in messages:
        text = text[: one["offset"]] + one["words"]
    return text


def test_a_subscriber_hears_the_words_where_they_belong_in_few_messages(live_at, heard, servers):
    show, text = live_at(servers.urls.result), "We talked about it. 終わり 🙂 "
    for offset, letter in enumerate(text):
        show(*DOCUMENT, "summary", 0, offset, letter)
    messages = heard(len(text))
    assert written(messages) == text
    assert messages[0].keys() == {"step", "chunk", "offset", "words"}
    assert (messages[0]["step"], messages[0]["chunk"], messages[0]["offset"]) == ("summary", 0, 0)
    assert len(messages) < len(text) / 2


def test_a_text_that_begins_anew_replaces_what_was_heard(live_at, heard, servers):
    show = live_at(servers.urls.result)
    show(*DOCUMENT, "summary", 0, 0, "No good. ")
    heard(len("No good. "))
    show(*DOCUMENT, "summary", 0, 9, "Nor this. ")
    show(*DOCUMENT, "summary", 0, 0, "Better.")
    assert written(heard(len("No good. Better."))) == "Better."


def test_nothing_is_left_in_redis(live_at, heard, servers):
    connection = redis.Redis.from_url(servers.urls.result)
    before = set(connection.scan_iter())
    live_at(servers.urls.result)(*DOCUMENT, "summary", 0, 0, "marmalade parliament")
    heard(20)
    assert not [key for key in set(connection.scan_iter()) - before if b"live" in key]


@pytest.fixture
def silent():
    """The URL of a Redis that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"redis://127.0.0.1:{server.getsockname()[1]}/0"


@pytest.mark.parametrize("url", ["redis://127.0.0.1:1/0", "sentinel://127.0.0.1:26379/0", None], ids=str)
def test_a_redis_that_is_away_or_silent_costs_no_time_and_no_word(live_at, silent, capsys, url):
    show = live_at(url or silent)
    for offset in range(10_000):  # if each of them waited half a second, this would not end
        show(*DOCUMENT, "summary", 0, 10 * offset, "marmalade ")
    said = []
    wait_for(lambda: said.append(capsys.readouterr().out) or "live.quiet" in "".join(said))
    assert "marmalade" not in "".join(said)
    assert show._thread.is_alive()


def test_live_text_is_heard_again_once_redis_is_back(live_at, heard, servers, monkeypatch):
    monkeypatch.setattr("tasks.live._QUIET_SECONDS", 0.0)
    show = live_at("redis://127.0.0.1:1/0")
    show(*DOCUMENT, "summary", 0, 0, "Lost. ")
    wait_for(lambda: show._quiet_until is not None)
    show._redis = redis.Redis.from_url(servers.urls.result)
    show(*DOCUMENT, "summary", 0, 6, "Heard.")
    assert [one["offset"] for one in heard(6)] == [6]
