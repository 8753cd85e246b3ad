"""A good answer: what is sent for it, what is read of it, and what the call reports. Real SDK, real sockets."""

import pytest
from openai_chat_bed import QUESTION, a_call, model_of

from benchmarks.model_server import done, finish, reply, say, serving, usage, whole
from pipeline.domain.results import Usage
from pipeline.summarizers.openai_chat.model import Question
from pipeline.summarizers.port import UNKNOWN

WHOLE = {
    "id": "cmpl-7",
    "model": "whole-model",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "All of it."}}],
    "usage": {"prompt_tokens": 7, "completion_tokens": 3},
}


def test_a_streamed_text_is_heard_piece_by_piece_and_returned_whole():
    heard = []
    with serving(lambda _: whole("They said yes. 🎉\r\n\u2028So be it.", pieces=7)) as server:
        text = model_of(server).ask(QUESTION, a_call(), heard.append)
    assert text == "They said yes. 🎉\r\n\u2028So be it."
    assert "".join(heard) == text
    assert len(heard) > 5


def test_the_call_reports_what_the_provider_said():
    told = {
        "id": "chatcmpl-1",
        "model": "gpt-9-2026",
        "service_tier": "flex",
        "system_fingerprint": "fp_1",
        "choices": [{"index": 0, "delta": {"content": "Yes."}, "finish_reason": "stop"}],
    }
    counts = {"prompt_tokens": 90, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 64}}
    call = a_call()
    with serving(lambda _: [{"chunk": told}, usage(**counts), done()]) as server:
        model_of(server).ask(QUESTION, call)
    assert call.usage == Usage(input_tokens=90, cached_tokens=64, output_tokens=5)
    assert call.request_id.startswith("req-")
    assert (call.service_tier, call.system_fingerprint, call.condition) == ("flex", "fp_1", None)


def test_usage_that_nobody_reports_is_unknown():
    call = a_call()
    with serving(lambda _: [say("Yes."), finish(), done()]) as server:
        assert model_of(server).ask(QUESTION, call) == "Yes."
    assert call.usage == UNKNOWN


@pytest.mark.parametrize("count", [-1, True, "7", 7.0, 10**9 + 1, 2**62, 2**80])
def test_a_count_that_cannot_be_is_unknown(count):
    call = a_call()
    with serving(lambda _: [say("Yes."), finish(), usage(prompt_tokens=count, completion_tokens=5), done()]) as server:
        model_of(server).ask(QUESTION, call)
    assert call.usage == Usage(output_tokens=5)


def test_a_server_that_does_not_stream_is_read_as_well():
    call, heard = a_call(), []
    with serving(lambda _: [reply(200, WHOLE)]) as server:
        assert model_of(server).ask(QUESTION, call, heard.append) == "All of it."
    assert heard == ["All of it."]
    assert (call.model, call.request_id, call.usage) == (
        "whole-model",
        "cmpl-7",
        Usage(input_tokens=7, output_tokens=3),
    )


def test_only_what_the_profile_sets_is_sent():
    with serving() as server:
        model_of(server).ask(QUESTION, a_call())
    assert server.asked[0].body == {
        "model": "asked-model",
        "messages": list(QUESTION.messages),
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_completion_tokens": 100,
    }


def test_all_that_the_profile_sets_is_sent():
    chosen = {"temperature": 0.0, "top_p": 0.5, "seed": 0, "service_tier": "flex"}
    with serving() as server:
        model_of(server, output_cap="max_tokens", **chosen).ask(QUESTION, a_call())
    sent = server.asked[0].body
    assert chosen.items() <= sent.items()
    assert sent["max_tokens"] == 100
    assert "max_completion_tokens" not in sent


SCHEMA = {
    "type": "object",
    "properties": {"actions": {"type": "array", "items": {"type": "string"}}},
    "required": ["actions"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("dialect", "sent"),
    [
        (
            "json_schema",
            {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA}},
        ),
        ("json_object_schema", {"type": "json_object", "schema": SCHEMA}),
        ("json_object", {"type": "json_object"}),
        ("none", None),
    ],
)
def test_a_schema_is_told_in_the_servers_dialect(dialect, sent):
    question = Question(QUESTION.messages, 100, SCHEMA)
    with serving() as server:
        model_of(server, structured_output=dialect).ask(question, a_call())
    assert server.asked[0].body.get("response_format") == sent
