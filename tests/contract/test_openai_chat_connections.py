"""A call's wall clock, its connections and its key: nothing outlasts, nothing leaks, nothing goes to a stranger."""

import logging
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import monotonic

import pytest
from openai_chat_bed import QUESTION, SECRET, a_call, model_of, profile_of

from benchmarks.model_server import answer, done, finish, reply, say, serving, usage, whole
from pipeline.errors import ItemFailure
from pipeline.settings import Profile
from pipeline.summarizers.openai_chat.model import Model, Question

REPO = Path(__file__).parents[2]
KEY = "sk-of-openai"


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch):
    for name in ("API_KEY", "BASE_URL", "ORG_ID", "PROJECT_ID", "CUSTOM_HEADERS", "LOG"):
        monkeypatch.delenv(f"OPENAI_{name}", raising=False)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


def failing(model, call=None, question=QUESTION):
    call = call or a_call()
    with pytest.raises(ItemFailure) as raised:
        model.ask(question, call)
    return raised.value.error_code, call.condition


@contextmanager
def listening(backlog):
    """A socket that listens, and the URL of it."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(backlog)
        yield listener, f"http://127.0.0.1:{listener.getsockname()[1]}/v1"


#: Servers that never come to an end, though each byte of theirs comes in time.
ENDLESS = {
    "in the head": [{"raw": "HTTP/1.1 200 OK\r\n" + "x-more: 1\r\n" * 50, "every": 0.05}],
    "in the head's last line": [{"raw": "HTTP/1.1 200 " + "O" * 500, "every": 0.05}],
    "in a stream's comments": [{"drip": ": more\n\n" * 50, "every": 0.05}],
    "in one event": [say("They said"), {"drip": 'data: {"choices": [' + " " * 500, "every": 0.05}],
    "in good words": [say("They said " * 50, pieces=100, seconds=50)],
    "in a body": [{"raw": "HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{" + " " * 500, "every": 0.05}],
    "in the body of a refusal": [{"raw": "HTTP/1.1 429 -\r\ncontent-length: 900\r\n\r\n" + " " * 500, "every": 0.05}],
    "after an interim answer": [{"raw": "HTTP/1.1 102 Processing\r\n\r\n" * 20, "every": 0.05}],
}


@pytest.mark.parametrize("play", [pytest.param(play, id=name) for name, play in ENDLESS.items()])
def test_no_drip_outlasts_the_deadline_of_a_call(play):
    with serving(lambda _: play) as server:
        assert failing(model_of(server, idle_seconds=20), a_call(0.6)) == ("provider_timeout", "deadline_exceeded")
    assert server.asked[0].ended in ("left", "cut")


def test_a_server_that_reads_slowly_does_not_outlast_the_deadline():
    def read_slowly():
        connection, _ = listener.accept()
        read = 0
        with connection:
            while got := len(connection.recv(100_000)):
                read += got
                over.wait(0.02)
        return read

    huge = Question(({"role": "user", "content": "yes " * 5_000_000},), 100)
    over = threading.Event()
    with listening(1) as (listener, url), ThreadPoolExecutor(1) as threads:
        reading = threads.submit(read_slowly)
        model = Model(Profile(summarizer="openai_chat", model="m", base_url=url, idle_seconds=20))
        assert failing(model, a_call(1.5), huge) == ("provider_timeout", "deadline_exceeded")
        over.set()
    assert reading.result() < 20_000_000


def test_a_call_whose_time_is_over_is_not_sent():
    with serving() as server:
        assert failing(model_of(server), a_call(0.0)) == ("provider_timeout", "deadline_exceeded")
    assert not server.asked


def test_the_deadline_of_a_call_is_gone_with_it():
    plays = iter([[{"stall": True}], [{"wait": 0.5}, *whole("Yes.")]])
    with serving(lambda _: next(plays)) as server:
        model = model_of(server)
        assert failing(model, a_call(0.3)) == ("provider_timeout", "deadline_exceeded")
        assert model.ask(QUESTION, a_call()) == "Yes."


#: Silence: (the play, the condition)
SILENT = {
    "before the head": [{"stall": True}],
    "before the first word": [{"head": 200, "headers": {}}, {"stall": True}],
    "in the midst of the words": [say("They said"), {"stall": True}],
    "in the body of a refusal": [{"raw": "HTTP/1.1 503 -\r\ncontent-length: 9\r\n\r\n"}, {"stall": True}],
}


@pytest.mark.parametrize("play", [pytest.param(play, id=name) for name, play in SILENT.items()])
def test_silence_ends_a_call_long_before_its_deadline(play):
    with serving(lambda _: play) as server:
        assert failing(model_of(server, idle_seconds=0.3)) == ("provider_timeout", "provider_timeout")


def test_an_end_of_the_stream_that_never_comes_is_not_waited_for():
    with serving(lambda _: [say("Yes."), finish(), usage(), done(), {"stall": True}]) as server:
        assert model_of(server).ask(QUESTION, a_call()) == "Yes."
    assert server.asked[0].ended == "left"


def test_a_port_where_nobody_listens_has_failed():
    with serving() as server:
        pass
    assert failing(model_of(server)) == ("provider_unavailable", "provider_unreachable")


def test_a_host_that_does_not_exist_has_failed():
    model = Model(Profile(summarizer="openai_chat", model="m", base_url="http://no-such-host.invalid/v1"))
    assert failing(model) == ("provider_unavailable", "provider_unreachable")


def test_a_server_that_accepts_no_connection_in_time_has_failed():
    with listening(0) as (listener, url), ExitStack() as waiting:
        for _ in range(4):  # as many as the kernel takes, and more
            first = waiting.enter_context(socket.socket())
            first.setblocking(False)
            first.connect_ex(listener.getsockname())
        model = Model(Profile(summarizer="openai_chat", model="m", base_url=url, connect_seconds=0.3))
        assert failing(model) == ("provider_unavailable", "provider_unreachable")


def test_a_server_that_speaks_no_tls_has_failed():
    with serving() as server:
        url = server.url.replace("http:", "https:")
        model = Model(Profile(summarizer="openai_chat", model="m", base_url=url, connect_seconds=0.5))
        assert failing(model, a_call(5.0)) == ("provider_unavailable", "provider_unreachable")


@pytest.mark.parametrize("url", ["http://[::1", "http://host:port/v1", "http://:80/v1"])
def test_an_address_that_is_none_is_a_fault_of_the_profile(url):
    model = Model(Profile(summarizer="openai_chat", model="m", base_url=url))
    assert failing(model) == ("provider_auth", "provider_bad_request")


def test_one_connection_serves_one_call_after_another():
    with serving() as server:
        model = model_of(server)
        for _ in range(5):
            model.ask(QUESTION, a_call())
    assert [asked.connection for asked in server.asked] == [1] * 5


@pytest.mark.parametrize(
    "play",
    [
        [say("They said", pieces=3), {"cut": True}],
        [say("They said", pieces=3), {"stall": True}],
        [say("\n" * 4_000, pieces=40), {"stall": True}],
        [say("They said"), {"data": "no JSON"}, {"stall": True}],
        [reply(500, "")],
        [reply(200, "<html>")],
    ],
    ids=["cut", "silent", "a loop", "malformed", "refused", "HTML"],
)
def test_no_connection_leaks_of_calls_that_fail(play):
    with serving(lambda _: play) as server:
        model = model_of(server, idle_seconds=0.2)
        for _ in range(10):
            failing(model)
        pool = model._client()._client._transport._pool
        assert not pool._requests
        assert len(pool.connections) <= 1


def test_what_is_told_the_text_may_fail_and_leaks_nothing():
    def burst(_words):
        raise RuntimeError("the ledger is gone")

    with serving(lambda _: whole("They said yes.", pieces=5)) as server:
        model = model_of(server)
        with pytest.raises(RuntimeError, match="the ledger is gone"):
            model.ask(QUESTION, a_call(), burst)
        assert not model._client()._client._transport._pool._requests
        assert model.ask(QUESTION, a_call()) == "They said yes."


def test_many_threads_share_a_model_each_with_its_own_deadline_and_answer():
    """Every fourth call is one whose time is short before a server that is silent."""

    def play(asked):
        return (
            [{"stall": True}] if "silent" in asked.words else whole(f"Answer to {asked.words}", pieces=8, seconds=0.3)
        )

    gate = threading.Barrier(48)

    def ask(number):
        gate.wait()
        words, call = f"number {number}" + (", silent" if number % 4 == 0 else ""), a_call(30.0)
        call.ends = monotonic() + (0.5 if number % 4 == 0 else 30.0)
        question = Question(({"role": "user", "content": words},), 100)
        if number % 4 == 0:
            return failing(model, call, question) == ("provider_timeout", "deadline_exceeded")
        return model.ask(question, call) == f"Answer to {words}"

    with serving(play) as server, ThreadPoolExecutor(48) as threads:
        model = model_of(server)
        assert all(threads.map(ask, range(48)))
    assert max(asked.at_once for asked in server.asked) >= 40


def test_a_thousand_threads_find_a_connection_each():
    with serving() as server:
        assert model_of(server)._client()._client._transport._pool._max_connections >= 1_000


@pytest.mark.parametrize(
    ("more", "path"),
    [
        ("", "/v1/chat/completions"),
        ("/", "/v1/chat/completions"),
        ("?api-version=2026-01-01&x=7", "/v1/chat/completions?api-version=2026-01-01&x=7"),
    ],
)
def test_the_address_may_end_in_a_slash_or_a_query(more, path):
    with serving() as server:
        Model(profile_of(server).model_copy(update={"base_url": server.url + more})).ask(QUESTION, a_call())
    assert server.asked[0].path == path


# The key, and what else the environment holds.


def sent_headers(profile):
    with serving() as server:
        Model(profile(server)).ask(QUESTION, a_call())
    return server.asked[0].headers


def test_the_profiles_own_key_is_sent(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    headers = sent_headers(lambda server: profile_of(server, api_key="its-own\n"))
    assert headers["authorization"] == "Bearer its-own"


def test_an_address_of_its_own_is_told_nothing_of_openais_environment(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_ADMIN_KEY", KEY)
    monkeypatch.setenv("OPENAI_ORG_ID", KEY)
    monkeypatch.setenv("OPENAI_PROJECT_ID", KEY)
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"Authorization: Bearer {KEY}\nApi-Key: {KEY}")
    headers = sent_headers(profile_of)
    assert headers["authorization"] == "Bearer none"
    assert KEY not in str(headers)


def test_the_environments_key_goes_to_the_environments_address(monkeypatch):
    with serving() as server:
        monkeypatch.setenv("OPENAI_API_KEY", f"{KEY}\n")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
        Model(Profile(summarizer="openai_chat", model="m")).ask(QUESTION, a_call())
    headers = server.asked[0].headers
    assert (headers["authorization"], headers["openai-organization"]) == (f"Bearer {KEY}", "org-1")


def test_the_profiles_key_goes_before_the_environments(monkeypatch):
    with serving() as server:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        Model(Profile(summarizer="openai_chat", model="m", api_key="its-own")).ask(QUESTION, a_call())
    assert server.asked[0].headers["authorization"] == "Bearer its-own"


def test_a_missing_key_is_told_with_what_to_set():
    with pytest.raises(ItemFailure, match="OPENAI_API_KEY") as raised:
        Model(Profile(summarizer="openai_chat", model="m")).ask(QUESTION, a_call())
    assert raised.value.error_code == "provider_auth"


@pytest.mark.parametrize("key", ["schlüssel", "two\nlines", "\x00"])
def test_a_key_that_no_header_can_hold_is_not_told(key):
    with serving() as server, pytest.raises(ItemFailure) as raised:
        model_of(server, api_key=key).ask(QUESTION, a_call())
    assert raised.value.error_code == "provider_auth"
    assert key not in str(raised.value)
    assert not server.asked


def test_the_environments_proxy_is_used(monkeypatch):
    with serving() as server:
        monkeypatch.setenv("http_proxy", server.url.removesuffix("/v1"))
        model = Model(Profile(summarizer="openai_chat", model="m", base_url="http://model.invalid/v1"))
        model.ask(QUESTION, a_call())
    assert server.asked[0].path == "http://model.invalid/v1/chat/completions"


def test_the_deadline_holds_through_a_proxy(monkeypatch):
    with serving(lambda _: ENDLESS["in the head"]) as server:
        monkeypatch.setenv("http_proxy", server.url.removesuffix("/v1"))
        model = Model(Profile(summarizer="openai_chat", model="m", base_url="http://model.invalid/v1"))
        assert failing(model, a_call(0.6)) == ("provider_timeout", "deadline_exceeded")


def test_a_host_that_no_proxy_names_is_asked_without_it(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving() as server:
        model_of(server).ask(QUESTION, a_call())
    assert len(server.asked) == 1


LOGGING = """
import logging, os, sys
from time import monotonic
from pipeline.logs import configure
from pipeline.settings import Profile, Settings
configure(Settings(log_level="DEBUG"))
from pipeline.errors import ItemFailure
from pipeline.summarizers.openai_chat.model import Model, Question
from pipeline.summarizers.port import CallReport
model = Model(Profile(summarizer="openai_chat", model="m", base_url=sys.argv[1], api_key="sk-" + sys.argv[2]))
for _ in range(2):
    try:
        model.ask(Question(({"role": "user", "content": sys.argv[2]},), 100), CallReport(1, monotonic() + 20))
    except ItemFailure as failure:
        logging.getLogger("test").debug("%s", failure)
"""


def test_no_log_holds_a_request_or_an_answer_however_much_is_logged():
    plays = iter([whole(f"They said {SECRET}."), [reply(400, {"error": {"message": SECRET}}, {"x-said": SECRET})]])
    with serving(lambda _: next(plays)) as server:
        run = subprocess.run(
            [sys.executable, "-c", LOGGING, server.url, SECRET],
            env={"PYTHONPATH": str(REPO), "OPENAI_LOG": "debug", "PATH": ""},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
    assert len(server.asked) == 2
    assert "provider_rejected" in run.stderr
    assert SECRET not in run.stdout + run.stderr
    assert logging.getLogger("openai").level >= logging.WARNING


def test_the_answer_of_the_server_for_tests_fits_the_schema_that_it_is_asked():
    schema = {
        "type": "object",
        "properties": {
            "actions": {"type": "array", "items": {"type": "object"}},
            "kind": {"type": "string", "enum": ["b", "a"]},
            "owner": {"type": ["string", "null"]},
            "due": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        },
        "required": ["actions", "kind", "owner", "due"],
        "additionalProperties": False,
    }
    with serving(answer) as server:
        text = model_of(server).ask(Question(QUESTION.messages, 100, schema), a_call())
    assert text == '{"actions": [], "kind": "b", "owner": null, "due": null}'
