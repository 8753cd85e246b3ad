"""The scripted model server as a program of its own, as benchmarks and real workers meet it."""

import json
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from openai_chat_bed import QUESTION, SECRET, a_call

from benchmarks.model_server import SUMMARY
from pipeline.errors import ItemFailure
from pipeline.settings import Profile
from pipeline.summarizers.openai_chat.model import Model, Question

SCHEMA = {"type": "object", "properties": {"actions": {"type": "array"}}, "required": ["actions"]}
SCRIPT = {
    "latency": [0.01, 0.5],
    "rules": [
        {"contains": SECRET, "times": 1, "play": [{"reply": 429, "headers": {"retry-after": "3"}}]},
        {
            "contains": SECRET,
            "structured": False,
            "times": 1,
            "play": [{"say": "They said", "pieces": 3}, {"cut": True}],
        },
    ],
}


@contextmanager
def running(folder, script):
    (folder / "script.json").write_text(json.dumps(script))
    command = [sys.executable, "-m", "benchmarks.model_server", "--script", folder / "script.json"]
    with subprocess.Popen(
        [*command, "--journal", folder / "journal.ndjson"],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


def test_a_script_says_what_happens_to_which_request_and_the_journal_what_did(tmp_path):
    with running(tmp_path, SCRIPT) as url:
        model = Model(Profile(summarizer="openai_chat", model="m", base_url=url))
        with pytest.raises(ItemFailure, match="rate_limited"):
            model.ask(QUESTION, a_call())
        assert model.ask(Question(QUESTION.messages, 100, SCHEMA), a_call()) == '{"actions": []}'
        with pytest.raises(ItemFailure, match="provider_unavailable"):
            model.ask(QUESTION, a_call())
        assert model.ask(QUESTION, a_call()) == SUMMARY
    asked = [json.loads(line) for line in (tmp_path / "journal.ndjson").read_text().splitlines()]
    assert [one["ended"] for one in asked] == ["whole", "whole", "cut", "whole"]
    assert [one["text"] for one in asked] == ["", '{"actions": []}', "They said", SUMMARY]
    assert [one["pieces"] for one in asked] == [0, 4, 3, -(-len(SUMMARY) // 4)]
    assert asked[0]["body"]["messages"] == list(QUESTION.messages)
