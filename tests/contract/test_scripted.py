"""The scripted fake does what its file says, and its file is checked when it is read."""

import json
import multiprocessing
import signal
from concurrent.futures import ThreadPoolExecutor
from threading import Thread

import pytest

from pipeline.domain.documents import DocumentFields, Transcript, Turn
from pipeline.domain.results import Summary
from pipeline.errors import InvalidRequest, ItemFailure
from pipeline.settings import Profile, Settings
from pipeline.summarizers.port import SummaryRequest
from pipeline.summarizers.registry import summarizer
from pipeline.summarizers.scripted import CONSTANT, Scripted
from pipeline.summarizers.unrecorded import Unrecorded


@pytest.fixture
def scripted(tmp_path):
    def write(script):
        path = tmp_path / "script.json"
        path.write_text(json.dumps(script))
        return Scripted(path)

    return write


def ask(fake, document_id="call-1", attempt=1, deadline=60.0):
    request = SummaryRequest(
        fields=DocumentFields(document_id=document_id, account_id="acme"),
        transcript=Transcript(turns=(Turn(text="Hello."),)),
        language=None,
    )
    return fake.summarize(request, Unrecorded(Profile(), deadline, attempt))


def test_the_setting_names_the_script(tmp_path):
    path = tmp_path / "script.json"
    path.write_text('{"default": [{"do": "succeed", "output": {"summary": "From the file."}}]}')
    assert ask(summarizer(Profile(summarizer="scripted"), Settings(script=path))).summary == "From the file."


def test_without_a_script_every_call_succeeds():
    assert ask(Scripted()) == CONSTANT


def test_the_attempt_chooses_the_step_and_the_last_repeats(scripted):
    fake = scripted({"default": [{"do": "fail", "code": "rate_limited", "retry_after": 0.2}, {"do": "succeed"}]})
    with pytest.raises(ItemFailure) as failure:
        ask(fake, attempt=1)
    assert (failure.value.error_code, failure.value.retry_after) == ("rate_limited", 0.2)
    assert [ask(fake, attempt=attempt) for attempt in (2, 3)] == [CONSTANT, CONSTANT]


def test_a_document_may_have_its_own_steps(scripted):
    output = {"summary": "Special.", "actions": [{"kind": "follow_up", "text": "Send it."}], "model": "m"}
    fake = scripted({"documents": {"call-7": [{"do": "succeed", "output": output}]}})
    assert ask(fake, "call-7") == Summary.model_validate(output)
    assert ask(fake, "call-8") == CONSTANT


def test_raw_output_goes_through_the_same_door_as_a_models(scripted):
    fake = scripted(
        {"default": [{"do": "succeed", "raw": '{"summary": "Cut'}, {"do": "succeed", "raw": '{"summary": "Whole."}'}]}
    )
    with pytest.raises(ItemFailure, match="invalid_output"):
        ask(fake, attempt=1)
    assert ask(fake, attempt=2).summary == "Whole."


def test_a_step_waits_no_longer_than_the_deadline(scripted):
    fake = scripted({"default": [{"do": "succeed", "seconds": 3_600}]})
    with pytest.raises(ItemFailure, match="provider_timeout"):
        ask(fake, deadline=0.01)
    assert ask(scripted({"default": [{"do": "succeed", "seconds": 0.01}]})) == CONSTANT


def test_a_step_waits_until_a_file_is_there_but_no_longer_than_the_deadline(scripted, tmp_path):
    signal_file = tmp_path / "go"
    fake = scripted({"default": [{"do": "succeed", "until": str(signal_file)}]})
    with pytest.raises(ItemFailure, match="provider_timeout"):
        ask(fake, deadline=0.05)
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(ask, fake)
        with pytest.raises(TimeoutError):
            waiting.result(timeout=0.05)
        signal_file.touch()
        assert waiting.result(timeout=60) == CONSTANT


def test_a_hang_obeys_no_deadline(scripted):
    fake = scripted({"default": [{"do": "hang"}]})
    hanging = Thread(target=ask, args=(fake,), kwargs={"deadline": 0.01}, daemon=True)
    hanging.start()
    hanging.join(0.1)
    assert hanging.is_alive()


def test_a_crash_kills_its_own_process(scripted, tmp_path):
    scripted({"default": [{"do": "crash"}]})
    process = multiprocessing.get_context("spawn").Process(target=crash, args=(tmp_path / "script.json",))
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL


def crash(path):
    ask(Scripted(path))


def test_the_journal_has_one_line_per_call_written_before_anything_else(scripted, tmp_path):
    journal = tmp_path / "calls.ndjson"
    fake = scripted({"journal": str(journal), "default": [{"do": "fail", "code": "refused"}, {"do": "succeed"}]})
    with pytest.raises(ItemFailure):
        ask(fake, attempt=1)
    ask(fake, attempt=2)
    calls = [json.loads(line) for line in journal.read_text().splitlines()]
    assert [(call["document_id"], call["attempt"], call["sequence"]) for call in calls] == [
        ("call-1", 1, 1),
        ("call-1", 2, 1),
    ]


@pytest.mark.parametrize(
    "script",
    [
        {"default": []},
        {"default": [{"do": "dance"}]},
        {"default": [{"do": "fail", "code": "bad_luck"}]},
        {"documents": {"a": [{"do": "fail"}]}},
        {"other": 1},
        [],
    ],
)
def test_a_script_that_cannot_be_followed_is_refused(scripted, script):
    with pytest.raises(InvalidRequest, match=r"script\.json"):
        scripted(script)


def test_a_missing_script_is_refused(tmp_path):
    with pytest.raises(InvalidRequest, match="cannot read the script"):
        Scripted(tmp_path / "nothing.json")
