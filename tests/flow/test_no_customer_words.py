"""No word of a customer's leaves by Flower, the broker, the result backend, metrics or logs."""

import base64
import json
import threading
import urllib.request
from urllib.error import URLError

import pytest
import redis
from crew import wait_for
from scripted import call, follow_up, succeed

from benchmarks.model_server import reply, say, serving, whole
from pipeline.cli import flower, programs
from pipeline.settings import Settings

#: What was said, who the customer is, what the model wrote, and what our bugs would let out.
WORDS = ("marmalade parliament", "zinc orchard", "cobalt thimble", "velvet cartridge")
#: A document's id may be a file name with a customer's in it: it is in logs and exports.
NAME = "heron-lantern"
SAID = "The marmalade parliament meets on Friday, I will send the agenda."

DOCUMENTS = [
    *(call(f"{NAME}-{n}", SAID, account="zinc orchard") for n in range(6)),
    call(f"{NAME}-invalid", SAID, account="zinc orchard"),
    call(f"{NAME}-crowded", SAID, account="zinc orchard"),
    call(f"{NAME}-raises", SAID, account="zinc orchard"),
    call(f"{NAME}-empty", "", account="zinc orchard"),
]
SCRIPT = {
    "default": [succeed(follow_up("Send the cobalt thimble", SAID), summary="A cobalt thimble.")],
    "documents": {
        f"{NAME}-invalid": [{"do": "succeed", "raw": '{"summary": ["cobalt thimble", "velvet cartridge"]}'}],
        f"{NAME}-crowded": [{"do": "fail", "code": "provider_unavailable"}, succeed()],
    },
}
PASSWORD = "loopback"
KEY = "sk-amber-turnstile"

#: What a model server does with a transcript that says so, once or always.
TURNS = ("quotes it back", "breaks off", "makes no sense")
MODELLED = [
    call(f"{NAME}-model-{n}", SAID, f"The server {turn}.", account="zinc orchard")
    for n, turn in enumerate(("answers", *TURNS))
]

ACTION = {
    "kind": "follow_up",
    "text": "Send the cobalt thimble",
    "owner": "Ann",
    "quotes": [{"turn": 0, "quote": SAID}],
}
ACTIONS = json.dumps({"actions": [ACTION | {"due_text": None, "due_on": None, "proposed_stage": None}]})


@pytest.fixture
def server():
    broken = []

    def play(asked):
        quotes_back, breaks_off, makes_no_sense = (turn in asked.words for turn in TURNS)
        if quotes_back:
            return [reply(400, {"error": {"message": f"what is {SAID}"}})]
        if breaks_off and not broken:
            broken.append(asked)
            return [say("A cobalt thimble. A velvet"), {"cut": True}]
        if asked.is_structured:
            return whole('{"cobalt thimble": NaN' if makes_no_sense else ACTIONS)
        return whole("A cobalt thimble. And more.")

    with serving(play) as started:
        yield started


@pytest.fixture
def desk(crew, open_desk, server):
    model = {"summarizer": "openai_chat", "model": "m", "base_url": server.url, "api_key": KEY}
    profiles = {"scripted": {"summarizer": "scripted"}, "model": model}
    crew.work(SCRIPT, app="leaky", env={"CALLFOLD_LOG_LEVEL": "DEBUG", "CALLFOLD_PROFILES": json.dumps(profiles)})
    desk = open_desk()
    desk.know(profiles)
    yield desk
    crew.dismiss()


@pytest.fixture
def browse(crew, desk):  # noqa: ARG001 - the workers must be there
    """Fetches pages of a Flower that knows every worker."""
    settings = Settings(data_dir=crew.data, flower_password=PASSWORD)
    workers = programs.workers(settings)
    program = flower.program(settings)
    crew.run(program)
    login = base64.b64encode(f"{flower.USER}:{PASSWORD}".encode()).decode()

    def fetch(path):
        request = urllib.request.Request(f"http://{program.address}{path}", headers={"Authorization": f"Basic {login}"})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - our own Flower
                return answer.read().decode()
        except (URLError, ConnectionError):
            return ""

    wait_for(lambda: len(json.loads(fetch("/api/workers?refresh=1") or "{}")) == len(workers))
    return fetch


@pytest.fixture
def commands(servers):
    """Every command that Redis gets, with all that it carries: messages, events, results."""
    seen = []
    connection = redis.Redis.from_url(servers.urls.broker, socket_timeout=None)
    with connection.monitor() as monitor:
        listener = threading.Thread(target=lambda: seen.extend(one["command"] for one in until_told(monitor)))
        listener.start()
        yield seen
        connection.echo("the test is over")
        listener.join()


def until_told(monitor):
    for one in monitor.listen():
        if "the test is over" in one["command"]:
            return
        yield one


def test_no_customer_words_outside_the_ledger_and_the_bundle(crew, desk, servers, commands, browse):
    crew.process.pause()
    job_id = desk.submit(DOCUMENTS, concurrency=3)
    wait_for(lambda: any(str(job_id) in value for value in everything_in(servers.urls.broker)))
    stored = list(everything_in(servers.urls.broker))
    crew.process.resume()
    bundle = desk.bundle(job_id)
    stored += everything_in(servers.urls.broker)
    codes = [row["error_code"] for row in bundle.rows[6:]]
    assert codes == ["invalid_output", None, "internal_error", "empty_input"]
    assert WORDS[0] in (bundle.folder / "actions.ndjson").read_text()
    modelled = desk.bundle(desk.submit(MODELLED, profile="model", key="modelled"))
    stored += everything_in(servers.urls.broker)
    codes = [row["error_code"] for row in modelled.rows]
    assert codes == [None, "provider_rejected", None, "invalid_output"]
    assert WORDS[2] in (modelled.folder / "actions.ndjson").read_text()

    tasks = wait_for(lambda: all_ended(json.loads(browse("/api/tasks"))))
    hops = ("admit", "process", "reduce", "freeze", "notify")
    assert {task["name"] for task in tasks.values()} == {f"tasks.{hop}" for hop in hops}
    worker = next(iter(json.loads(browse("/api/workers"))))
    pages = ["/", "/api/workers?refresh=1", "/api/tasks", "/tasks", f"/worker/{worker}", "/broker", "/metrics"]
    pages += [f"{path}/{task}" for task in tasks for path in ("/task", "/api/task/info", "/api/task/result")]
    shown = [browse(path) for path in pages]
    assert any(str(job_id) in page for page in shown)
    assert "flower_events_total" in shown[pages.index("/metrics")]

    # Live text is for whoever listens, and is kept nowhere.
    live, others = (
        [command for command in commands if ("callfold.live." in command) is is_live] for is_live in (True, False)
    )
    assert any(WORDS[2] in command and command.startswith("PUBLISH") for command in live)
    sent = [decoded(command) for command in others]
    assert any(str(job_id) in command for command in sent)
    for word in (*WORDS, NAME, KEY):
        assert not [page for page in shown if word in page]
        assert not [command for command in sent if word in command]
        assert not [value for value in stored if word in value]

    logs = {log: log.read_text() for log in (*crew.logs, *servers._folder.logs.iterdir())}
    assert any(f"{NAME}-raises" in text for text in logs.values())
    assert any("hop.internal_error" in text for text in logs.values())
    assert not [log for word in (*WORDS, KEY) for log, text in logs.items() if word in text]


def all_ended(tasks):
    """Flower's tasks once it has seen the last of them end."""
    ended = all(task["state"] in {"SUCCESS", "FAILURE"} for task in tasks.values())
    return tasks if ended and any(task["name"] == "tasks.notify" for task in tasks.values()) else None


def decoded(command):
    """Celery packs a message's body in base64."""
    opened = [command]
    for word in command.replace("\\", "").split('"'):
        if len(word) > 20 and word.isascii():
            try:
                opened.append(base64.b64decode(word, validate=True).decode())
            except ValueError:
                continue
    return "\n".join(opened)


def everything_in(url):
    """Each key of all databases with its value, as text."""
    for database in range(16):
        connection = redis.Redis.from_url(url, db=database)
        for key in connection.scan_iter():
            yield decoded(f"{key} {READERS[connection.type(key)](connection, key)}")


READERS = {
    b"none": lambda _connection, _key: None,  # it was taken since the scan
    b"string": lambda connection, key: connection.get(key),
    b"list": lambda connection, key: connection.lrange(key, 0, -1),
    b"hash": lambda connection, key: connection.hgetall(key),
    b"set": lambda connection, key: connection.smembers(key),
    b"zset": lambda connection, key: connection.zrange(key, 0, -1),
    b"stream": lambda connection, key: connection.xrange(key),
}
