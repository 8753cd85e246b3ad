"""Each way in which a provider does not answer: its code, its condition, one request, and no words of anybody.

Real SDK, real sockets, a server that does it. The lines are those that were measured or reported of real servers.
"""

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from openai_chat_bed import QUESTION, SECRET, a_call, model_of

from benchmarks.model_server import done, finish, reply, say, serving, usage, whole
from pipeline.domain.results import Usage
from pipeline.errors import ItemFailure
from pipeline.summarizers.port import UNKNOWN

#: What servers say in their errors; it must not be heard of, for it may quote the transcript.
SAYS = f"the model says {SECRET}"


def openai_error(message=SAYS, **fields):
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None} | fields}


def a_choice(index=0, finish_reason="stop", **message):
    return {"index": index, "finish_reason": finish_reason, "message": {"role": "assistant"} | message}


def completion(*choices, **fields):
    return {"id": "cmpl-1", "object": "chat.completion", "model": "m", "choices": list(choices)} | fields


def delta(words, finish_reason=None, **fields):
    choice = {"index": 0, "delta": {"content": words} | fields, "finish_reason": finish_reason}
    return {"chunk": {"id": "cmpl-1", "choices": [choice]}}


QUOTA = (
    "insufficient_quota",
    "credit_balance_exhausted",
    "organization_spend_limit_exceeded",
    "project_spend_limit_exceeded",
    "organization_usage_limit_exceeded",
)
LLAMA_CPP_PYTHON = (
    "[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), "
    f"'msg': \"Input should be 'text' or 'json_object'\", 'input': 'json_schema', 'ctx': {{'expected': '{SECRET}'}}}}]"
)

#: name: (the play, the error code, the condition)
REFUSED = {
    "401": ([reply(401, openai_error(code="invalid_api_key"))], "provider_auth", "provider_auth"),
    "401 of OAuth": (
        [reply(401, {"error": "invalid_token", "error_description": SAYS})],
        "provider_auth",
        "provider_auth",
    ),
    "403": (
        [reply(403, openai_error(code="unsupported_country_region_territory"))],
        "provider_auth",
        "provider_forbidden",
    ),
    "403 HTML": (
        [reply(403, f"<html>{SECRET}</html>", {"content-type": "text/html"})],
        "provider_auth",
        "provider_forbidden",
    ),
    "403 of a moderation": (
        [
            reply(
                403, {"error": {"code": 403, "message": SAYS, "metadata": {"flagged_input": SECRET, "reasons": ["x"]}}}
            )
        ],
        "content_filtered",
        "input_filtered",
    ),
    "404 model": ([reply(404, openai_error(code="model_not_found"))], "provider_auth", "model_not_found"),
    "403 model that this project may not use": (
        [reply(403, openai_error(code="model_not_found"))],
        "provider_auth",
        "model_not_found",
    ),
    "404 address": ([reply(404, {"detail": "Not Found"})], "provider_auth", "model_not_found"),
    "a redirect": ([reply(308, "", {"location": "https://example.com/v1"})], "provider_auth", "provider_bad_request"),
    "402": ([reply(402, openai_error())], "quota_exhausted", "provider_quota_exhausted"),
    **{
        f"429 {code}": ([reply(429, openai_error(code=code))], "quota_exhausted", "provider_quota_exhausted")
        for code in QUOTA
    },
    "429 of type insufficient_quota": (
        [reply(429, openai_error(type="insufficient_quota", code="new_name_for_it"))],
        "quota_exhausted",
        "provider_quota_exhausted",
    ),
    "429 insufficient_quota, should not be tried again": (
        [reply(429, openai_error(code="insufficient_quota"), {"x-should-retry": "false"})],
        "quota_exhausted",
        "provider_quota_exhausted",
    ),
    "429 insufficient_quota, should be tried again": (
        [reply(429, openai_error(code="insufficient_quota"), {"x-should-retry": "true"})],
        "quota_exhausted",
        "provider_quota_exhausted",
    ),
    "429 rate_limit_exceeded": (
        [reply(429, openai_error(type="tokens", code="rate_limit_exceeded"))],
        "rate_limited",
        "provider_rate_limited",
    ),
    "429 slow_down": ([reply(429, openai_error(code="slow_down"))], "rate_limited", "provider_rate_limited"),
    "429 of an unknown code": ([reply(429, openai_error(code="new_code"))], "rate_limited", "provider_rate_limited"),
    "429 text": ([reply(429, "Too Many Requests")], "rate_limited", "provider_rate_limited"),
    "429 without a body": ([reply(429)], "rate_limited", "provider_rate_limited"),
    "429 of Gemini, in a list": (
        [reply(429, [{"error": {"code": 429, "message": SAYS, "status": "RESOURCE_EXHAUSTED"}}])],
        "rate_limited",
        "provider_rate_limited",
    ),
    "429 request too large": (
        [
            reply(
                429,
                openai_error(
                    "Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 9000, Requested "
                    f"90000. {SECRET}",
                    type="tokens",
                    code="rate_limit_exceeded",
                ),
            )
        ],
        "input_too_large",
        "input_too_large",
    ),
    "413": ([reply(413, "Request Entity Too Large")], "input_too_large", "input_too_large"),
    "413 of Groq": (
        [reply(413, openai_error("Request too large for model on TPM", type="tokens", code="rate_limit_exceeded"))],
        "input_too_large",
        "input_too_large",
    ),
    "429 flex without capacity": (
        [reply(429, openai_error(code="resource_unavailable"))],
        "provider_unavailable",
        "provider_capacity",
    ),
    "429 flex without capacity, by its words": (
        [reply(429, openai_error("429 Resource Unavailable"))],
        "provider_unavailable",
        "provider_capacity",
    ),
    "498 of Groq": ([reply(498, openai_error(code="capacity_exceeded"))], "provider_unavailable", "provider_capacity"),
    "498 text": ([reply(498, "")], "provider_unavailable", "provider_capacity"),
    "408": ([reply(408, "")], "provider_unavailable", "provider_server_error"),
    "409": ([reply(409, openai_error())], "provider_unavailable", "provider_server_error"),
    "500": ([reply(500, openai_error(type="server_error"))], "provider_unavailable", "provider_server_error"),
    "500 that speaks of temperature": (
        [reply(500, openai_error("the GPU's temperature is too high"))],
        "provider_unavailable",
        "provider_server_error",
    ),
    "502 HTML": (
        [reply(502, f"<html>{SECRET}</html>", {"content-type": "text/html"})],
        "provider_unavailable",
        "provider_server_error",
    ),
    "504": ([reply(504, "")], "provider_unavailable", "provider_server_error"),
    "520 of Cloudflare": ([reply(520, "")], "provider_unavailable", "provider_server_error"),
    "503": ([reply(503, openai_error(type="server_error"))], "provider_unavailable", "provider_overloaded"),
    "500 server_is_overloaded": (
        [reply(500, openai_error(code="server_is_overloaded"))],
        "provider_unavailable",
        "provider_overloaded",
    ),
    "529": ([reply(529, openai_error(type="overloaded_error"))], "provider_unavailable", "provider_overloaded"),
    "529 text": ([reply(529, "")], "provider_unavailable", "provider_overloaded"),
    "400 context_length_exceeded": (
        [reply(400, openai_error(code="context_length_exceeded", param="messages"))],
        "input_too_large",
        "context_too_long",
    ),
    "400 of vLLM, its code the status": (
        [
            reply(
                400,
                {
                    "object": "error",
                    "message": f"This model's maximum context length is 4096 tokens. You requested 9000. {SECRET}",
                    "type": "BadRequestError",
                    "param": None,
                    "code": 400,
                },
            )
        ],
        "input_too_large",
        "context_too_long",
    ),
    "400 of vLLM, the cap named with the context": (
        [
            reply(
                400,
                openai_error(
                    "'max_tokens' or 'max_completion_tokens' is too large: 5000. This model's maximum context length "
                    "is 4096 tokens and your request has 100 input tokens",
                    code=400,
                    param="max_tokens",
                ),
            )
        ],
        "input_too_large",
        "context_too_long",
    ),
    "400 of llama.cpp": (
        [reply(400, openai_error("the request exceeds the available context size", type="exceed_context_size_error"))],
        "input_too_large",
        "context_too_long",
    ),
    "400 of llama-cpp-python": (
        [reply(400, openai_error("Requested tokens (9000) exceed context window of 4096"))],
        "input_too_large",
        "context_too_long",
    ),
    "500 of llama-cpp-python": (
        [
            reply(
                500, openai_error("Requested tokens (9000) exceed context window of 4096", type="internal_server_error")
            )
        ],
        "input_too_large",
        "context_too_long",
    ),
    "400 of a server that knows no stream_options": (
        [reply(400, openai_error("Unrecognized request argument supplied: stream_options"))],
        "provider_auth",
        "provider_bad_request",
    ),
    "422 of TGI": (
        [reply(422, {"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096"})],
        "input_too_large",
        "context_too_long",
    ),
    "400 unsupported_parameter": (
        [reply(400, openai_error(code="unsupported_parameter", param="max_tokens"))],
        "provider_auth",
        "provider_bad_request",
    ),
    "400 unsupported_value": (
        [reply(400, openai_error(code="unsupported_value", param="temperature"))],
        "provider_auth",
        "provider_bad_request",
    ),
    **{
        f"400 {code}, of what is not said": (
            [reply(400, openai_error(code=code))],
            "provider_auth",
            "provider_bad_request",
        )
        for code in ("unsupported_parameter", "unsupported_value", "unknown_parameter", "invalid_json_schema")
    },
    "400 of a schema": (
        [reply(400, openai_error(f"Invalid schema for response_format 'answer': {SECRET}", param="response_format"))],
        "provider_auth",
        "provider_bad_request",
    ),
    "400 of a flex tier that Azure does not know": (
        [reply(400, openai_error("service_tier is not supported with this model"))],
        "provider_auth",
        "provider_bad_request",
    ),
    "422 of FastAPI": (
        [reply(422, {"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted", "input": SECRET}]})],
        "provider_auth",
        "provider_bad_request",
    ),
    "500 of llama-cpp-python for a dialect that it does not speak": (
        [reply(500, {"error": {"message": LLAMA_CPP_PYTHON, "type": "internal_server_error", "code": None}})],
        "provider_auth",
        "provider_bad_request",
    ),
    "400 content_filter of Azure": (
        [
            reply(
                400,
                openai_error(
                    code="content_filter",
                    param="prompt",
                    innererror={"code": "ResponsibleAIPolicyViolation", "content_filter_result": {}},
                ),
            )
        ],
        "content_filtered",
        "input_filtered",
    ),
    "400 ResponsibleAIPolicyViolation within": (
        [reply(400, openai_error(innererror={"code": "ResponsibleAIPolicyViolation"}))],
        "content_filtered",
        "input_filtered",
    ),
    "400 invalid_prompt": ([reply(400, openai_error(code="invalid_prompt"))], "content_filtered", "input_filtered"),
    "400 of this document": (
        [reply(400, openai_error(code="invalid_value", param="messages[0].content"))],
        "provider_rejected",
        "provider_rejected",
    ),
    "405": ([reply(405, "")], "provider_rejected", "provider_rejected"),
    "422 of this document": (
        [reply(422, {"detail": [{"loc": ["body", "messages", 0, "content"], "msg": SAYS}]})],
        "provider_rejected",
        "provider_rejected",
    ),
    "an error whose JSON is odd": (
        [reply(400, {"error": [[[]]], "detail": {"x": [SECRET]}, "code": [SECRET]})],
        "provider_rejected",
        "provider_rejected",
    ),
}

#: Answers with status 200 that are none.
NO_ANSWER = {
    "HTML": [reply(200, f"<html>{SECRET}</html>", {"content-type": "text/html"})],
    "text": [reply(200, SECRET)],
    "no body": [reply(200)],
    "a JSON list": [reply(200, [SECRET])],
    "JSON that breaks off": [reply(200, '{"choices": [{"message": ', {"content-type": "application/json"})],
    "NaN in a body": [reply(200, completion(a_choice(content="Yes."), usage={"prompt_tokens": float("nan")}))],
    "NaN in a stream": [say("Yes."), {"data": '{"choices": [{"delta": {"content": NaN}}]}'}, finish(), done()],
    "Infinity in a stream": [{"data": '{"choices": [], "usage": {"prompt_tokens": -Infinity}}'}, finish(), done()],
    "a number with 5,000 digits": [{"data": f'{{"choices": [], "created": {"9" * 5_000}}}'}, done()],
    "nested for ever": [{"data": "[" * 100_000}, done()],
    "an event that is no JSON": [say("Yes."), {"data": SECRET}, finish(), done()],
    "an event without an end": [{"data": "x" * (2**20 + 1)}, done()],
    "what is no gzip": [reply(200, SECRET, {"content-encoding": "gzip"})],
    "a stream that is no gzip": [
        {"head": 200, "headers": {"content-encoding": "gzip"}},
        {"data": SECRET},
        done(),
    ],
    "choices: [] in a body": [reply(200, completion())],
    "choices: null in a body": [reply(200, completion() | {"choices": None})],
    "no choices in a body": [reply(200, {"id": "cmpl-1"})],
    "a stream without a choice": [usage(), done()],
    "choices: null in a stream": [{"chunk": {"choices": None}}, done()],
    "choices that are no list": [{"chunk": {"choices": {"0": SECRET}}}, done()],
    "a choice that is no object": [{"chunk": {"choices": [SECRET]}}, done()],
    "a delta that is no object": [{"chunk": {"choices": [{"index": 0, "delta": [SECRET]}]}}, done()],
    "content that is a list": [{"chunk": {"choices": [{"delta": {"content": [{"text": SECRET}]}}]}}, done()],
    "two choices in a body": [reply(200, completion(a_choice(content="A."), a_choice(1, content="B.")))],
    "two choices in a chunk": [
        {"chunk": {"choices": [{"index": 0, "delta": {"content": "A"}}, {"index": 1, "delta": {"content": "B"}}]}},
        finish(),
        done(),
    ],
    "two choices in turn": [
        say("A."),
        {"chunk": {"choices": [{"index": 1, "delta": {"content": "B."}, "finish_reason": "stop"}]}},
        finish(),
        done(),
    ],
    "finish_reason error": [say("Yes."), finish("error"), usage(), done()],
    "finish_reason error in a body": [reply(200, completion(a_choice(content="Yes.", finish_reason="error")))],
    "finish_reason tool_calls": [say("Yes."), finish("tool_calls"), usage(), done()],
    "an unknown finish_reason": [say("Yes."), finish(SECRET), usage(), done()],
    "a finish_reason that is a number": [say("Yes."), finish(1), usage(), done()],
    "an error without a code": [reply(200, {"error": {"message": SAYS}})],
    "an error that is a text": [reply(200, {"error": SAYS})],
    "an error of an unknown type in a stream": [say("Yes."), {"chunk": {"error": {"type": SECRET}}}, done()],
}

#: Errors within an answer with status 200: (the play, the error code, the condition)
EMBEDDED = {
    "OpenRouter's in a body": (
        [reply(200, {"error": {"code": 502, "message": SAYS}})],
        "provider_unavailable",
        "provider_server_error",
    ),
    "OpenRouter's 429 in a body": (
        [reply(200, {"error": {"code": 429, "message": SAYS}})],
        "rate_limited",
        "provider_rate_limited",
    ),
    "OpenRouter's in a stream, beside a choice": (
        [
            say("Yes."),
            {"chunk": {"error": {"code": 502, "message": SAYS}, "choices": [{"index": 0, "finish_reason": "error"}]}},
            done(),
        ],
        "provider_unavailable",
        "provider_server_error",
    ),
    "an event named error": (
        [say("Yes."), {"data": json.dumps({"type": "overloaded_error", "message": SAYS}), "event": "error"}],
        "provider_unavailable",
        "provider_overloaded",
    ),
    "quota in a stream": (
        [{"chunk": {"error": {"message": SAYS, "code": "insufficient_quota"}}}, done()],
        "quota_exhausted",
        "provider_quota_exhausted",
    ),
    **{
        f"{word} in a stream": (
            [{"chunk": {"error": {"message": SAYS, "type": word}}}],
            "rate_limited",
            "provider_rate_limited",
        )
        for word in ("rate_limit_exceeded", "rate_limit_error", "slow_down")
    },
    **{
        f"{word} in a stream": (
            [say("Yes."), {"chunk": {"error": {"message": SAYS, "type": word}}}],
            "provider_unavailable",
            "provider_server_error",
        )
        for word in ("server_error", "internal_server_error", "api_error")
    },
    "vLLM's in a stream": (
        [{"chunk": {"object": "error", "message": "maximum context length is 4096", "code": 400}}],
        "input_too_large",
        "context_too_long",
    ),
    "a context in a stream, without any code": (
        [{"chunk": {"error": {"message": "the prompt is longer than the context window"}}}],
        "input_too_large",
        "context_too_long",
    ),
    "a wrong key in a body": (
        [reply(200, {"error": {"code": "invalid_api_key", "message": SAYS}})],
        "provider_auth",
        "provider_auth",
    ),
    "a filter in a stream": (
        [say("Yes."), {"chunk": {"error": {"code": "content_filter", "message": SAYS}}}],
        "content_filtered",
        "input_filtered",
    ),
}

#: Streams that end before their end.
CUT = {
    "before its first chunk": [{"head": 200, "headers": {}}, {"cut": True}],
    "by a reset before its head": [{"reset": True}],
    "without a head": [{"cut": True}],
    "in the midst of the head": [{"raw": "HTTP/1.1 200 OK\r\ncontent-ty"}],
    "with a head that is none": [{"raw": f"{SECRET}\r\n\r\n"}],
    "in the midst of a body": [{"raw": 'HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{"choices": ['}],
}
CUT_STREAM = {
    "after some words": [say("They said", pieces=3), {"cut": True}],
    "by a reset": [say("They said", pieces=3), {"wait": 0.1}, {"reset": True}],
    "properly, but without finish_reason": [say("They said", pieces=3)],
    "with [DONE], but without finish_reason": [say("They said", pieces=3), done()],
    "with usage, but without finish_reason": [say("They said", pieces=3), usage(), done()],
    "with a finish_reason of null": [say("They said"), finish(None), done()],
    "in the midst of an event": [say("They said"), {"drip": 'data: {"choices": [{', "every": 0.0}, {"cut": True}],
}

LOOP = "They agreed to meet again next week. "

#: Streams that end, but not well: (the play, the error code, the condition)
BAD_END = {
    "length": ([say("They said"), finish("length"), usage(), done()], "output_truncated", "output_truncated"),
    "length in a body": (
        [reply(200, completion(a_choice(content="They", finish_reason="length")))],
        "output_truncated",
        "output_truncated",
    ),
    "length in the midst of indented JSON": (
        [say('{"actions": [\n' + " " * 12), finish("length"), usage(), done()],
        "output_truncated",
        "output_truncated",
    ),
    "reasoning that ate the whole cap": (
        [delta("", reasoning_content=SECRET), delta(None, finish_reason="length"), usage(), done()],
        "output_truncated",
        "output_truncated",
    ),
    "length after white space": (
        [say('{"actions": [' + "\n" * 80), finish("length"), usage(), done()],
        "invalid_output",
        "output_degenerate",
    ),
    "length after a loop": ([say(LOOP * 30), finish("length"), usage(), done()], "invalid_output", "output_degenerate"),
    "content_filter": ([say("They"), finish("content_filter"), usage(), done()], "content_filtered", "output_filtered"),
    "a refusal": (
        [delta(None, refusal=f"I will not speak of {SECRET}"), finish(), usage(), done()],
        "refused",
        "model_refusal",
    ),
    "a refusal in a body": (
        [reply(200, completion(a_choice(content=None, refusal=SECRET)))],
        "refused",
        "model_refusal",
    ),
    "empty": ([finish(), usage(), done()], "invalid_output", "output_empty"),
    "empty in a body": ([reply(200, completion(a_choice(content=None)))], "invalid_output", "output_empty"),
    "blank": ([say(" \n \n"), finish(), usage(), done()], "invalid_output", "output_empty"),
}


def fails(play, call=None, **settings):
    """How the call fails that is answered by the play; it was asked once, and says nobody's words."""
    with serving(lambda _: play) as server, pytest.raises(ItemFailure) as raised:
        model_of(server, **settings).ask(QUESTION, call or a_call())
    failure = raised.value
    assert len(server.asked) == 1
    assert SECRET not in f"{failure} {failure.detail} {failure!r}"
    assert failure.__cause__ is None
    assert failure.__suppress_context__
    return failure


@pytest.mark.parametrize(
    ("play", "code", "condition"),
    [pytest.param(*case, id=name) for name, case in (REFUSED | EMBEDDED | BAD_END).items()],
)
def test_a_refusal_has_its_code_and_its_condition(play, code, condition):
    call = a_call()
    assert fails(play, call).error_code == code
    assert call.condition == condition


@pytest.mark.parametrize(
    ("parameter", "setting"),
    [
        ("response_format", "structured_output"),
        ("response_format.json_schema.schema", "structured_output"),
        ("json_schema", "structured_output"),
        ("max_tokens", "output_cap"),
        ("max_completion_tokens", "output_cap"),
        ("temperature", "temperature"),
        ("top_p", "top_p"),
        ("seed", "seed"),
        ("service_tier", "service_tier"),
    ],
)
def test_a_parameter_that_is_refused_names_the_setting_that_shapes_it(parameter, setting):
    for error in (openai_error(param=parameter), openai_error(f"Unrecognized request argument: {parameter}")):
        call = a_call()
        assert fails([reply(400, error)], call).detail.endswith(f": correct its {setting} (HTTP 400)")
        assert call.condition == "provider_bad_request"


@pytest.mark.parametrize(
    ("message", "setting"),
    [
        ("Unsupported value: 'temperature' does not support 0.2 with this model", "temperature"),
        ("seed: Extra inputs are not permitted", "seed"),
        ("body -> seed: extra fields not permitted", "seed"),
        ("property `seed` is unsupported", "seed"),
        ("Unsupported parameter: seed", "seed"),
        ('Invalid JSON payload received. Unknown name "seed": Cannot find field.', "seed"),
        ("Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.", "output_cap"),
        ("max_tokens is too large: 99999", "output_cap"),
        ("Temperature is not supported", "temperature"),
        ("Invalid schema for response_format", "structured_output"),
    ],
)
def test_a_parameter_is_found_in_a_message_that_names_it_as_one(message, setting):
    assert fails([reply(400, openai_error(message))]).detail.endswith(f": correct its {setting} (HTTP 400)")


@pytest.mark.parametrize(
    "message",
    [
        f"the content was not taken: '{SECRET}: their seed round closed'",
        "[3] Dana: the temperature in the hall was above what the batteries bear",
        "we seed the field again in spring",
        "a prompt of this kind is not permitted: their seed round closed",
    ],
)
def test_a_parameters_name_that_is_a_word_of_the_call_is_no_fault_of_the_profile(message):
    assert fails([reply(400, openai_error(message))]).error_code == "provider_rejected"


@pytest.mark.parametrize("play", [pytest.param(play, id=name) for name, play in NO_ANSWER.items()])
def test_what_is_no_chat_completion_is_malformed(play):
    call = a_call()
    assert fails(play, call).error_code == "provider_unavailable"
    assert call.condition == "provider_malformed_response"


@pytest.mark.parametrize("play", [pytest.param(play, id=name) for name, play in CUT.items()])
def test_a_connection_that_breaks_before_the_answer_begins_has_failed(play):
    call = a_call()
    assert fails(play, call).error_code == "provider_unavailable"
    assert call.condition == "provider_connection"
    assert call.usage == UNKNOWN


@pytest.mark.parametrize("play", [pytest.param(play, id=name) for name, play in CUT_STREAM.items()])
def test_a_stream_without_its_end_is_incomplete(play):
    call = a_call()
    assert fails(play, call).error_code == "provider_unavailable"
    assert call.condition == "stream_incomplete"


@pytest.mark.parametrize("after", [[], [{"cut": True}], [{"reset": True}], [done()], [usage(), {"cut": True}]], ids=str)
def test_a_text_whose_end_was_told_is_whole_however_the_connection_ends(after):
    with serving(lambda _: [say("They said yes."), finish(), {"wait": 0.05}, *after]) as server:
        assert model_of(server).ask(QUESTION, a_call()) == "They said yes."


def test_a_failed_call_reports_what_it_took_as_far_as_it_was_told():
    call = a_call()
    fails([say("They said"), finish("length"), usage(prompt_tokens=90, completion_tokens=100), done()], call)
    assert call.usage == Usage(input_tokens=90, output_tokens=100)
    assert call.request_id.startswith("req-")
    assert call.model == "scripted-model"


def test_a_refused_request_reports_its_id():
    call = a_call()
    fails([reply(500, openai_error(), {"x-request-id": "req-77"})], call)
    assert call.request_id == "req-77"


def in_a_minute(_=None):
    return format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)


@pytest.mark.parametrize(
    ("headers", "least", "most"),
    [
        ({"retry-after": "7"}, 7, 7),
        ({"retry-after": "7.5"}, 7.5, 7.5),
        ({"retry-after": "300"}, 300, 300),
        ({"retry-after-ms": "1500"}, 1.5, 1.5),
        ({"retry-after-ms": "1500", "retry-after": "2"}, 2, 2),
        ({"retry-after": "a minute"}, 40, 60),
        ({"retry-after": "2", "x-ratelimit-reset-tokens": "6m0s"}, 2, 2),
        ({"x-ratelimit-reset-requests": "1s", "x-ratelimit-reset-tokens": "6m0s"}, 360, 360),
        ({"x-ratelimit-reset-tokens": "6m0s", "x-ratelimit-remaining-tokens": "900"}, None, None),
        ({"x-ratelimit-reset-requests": "1h2m3.5s"}, 3_723.5, 3_723.5),
        ({"x-ratelimit-reset-requests": "250ms"}, 0.25, 0.25),
        ({"x-ratelimit-reset-requests": "20"}, 20, 20),
        ({"x-ratelimit-reset-requests": "-1", "x-ratelimit-reset-tokens": "0"}, None, None),
        ({"x-ratelimit-reset-requests": "1700000000000"}, None, None),
        ({"x-ratelimit-reset-requests": "1" * 39 + "!"}, None, None),
        ({"x-ratelimit-reset-requests": "soon", "x-ratelimit-remaining-requests": "none"}, None, None),
        ({"retry-after": "Tue, 99 Foo 9999999999 99:99:99 GMT"}, None, None),
        ({"retry-after": "Sat, 01 Jan 2000 00:00:00 GMT"}, None, None),
        ({"retry-after": "nan", "retry-after-ms": "inf"}, None, None),
        ({"retry-after": "-5", "retry-after-ms": ""}, None, None),
        ({}, None, None),
    ],
    ids=str,
)
def test_how_long_to_wait_is_read_of_whatever_the_provider_sends(headers, least, most):
    sent = {name: in_a_minute() if value == "a minute" else value for name, value in headers.items()}
    failure = fails([reply(429, openai_error(code="rate_limit_exceeded"), sent)])
    assert failure.error_code == "rate_limited"
    if least is None:
        assert failure.retry_after is None
    else:
        assert least <= failure.retry_after <= most


def test_an_overloaded_provider_is_asked_again_when_it_says():
    assert fails([reply(503, openai_error(), {"retry-after": "30"})]).retry_after == 30


@pytest.mark.parametrize(
    ("endless", "most"),
    [("\n", 700), (LOOP, 4_000), ('{"kind": "follow_up"},\n', 4_000), ("a", 4_000)],
    ids=["white space", "a sentence", "an object", "a letter"],
)
def test_a_stream_that_repeats_itself_is_broken_off_before_its_cap(endless, most):
    text = "They said yes. " + endless * (40_000 // len(endless))
    call = a_call()
    with serving(lambda _: whole(text, pieces=4_000, seconds=4.0)) as server:
        with pytest.raises(ItemFailure) as raised:
            model_of(server).ask(QUESTION, call)
        heard = len(server.asked[0].text)
    assert raised.value.error_code == "invalid_output"
    assert call.condition == "output_degenerate"
    assert call.usage == UNKNOWN
    assert heard < most + 1_000
    assert server.asked[0].ended == "left"


def test_a_server_that_takes_no_heed_of_the_cap_is_broken_off():
    words = " ".join(str(number * number) for number in range(20_000))
    call = a_call()
    assert fails(whole(words, pieces=500), call).error_code == "invalid_output"
    assert call.condition == "output_degenerate"


def test_a_long_text_that_repeats_phrases_is_not_taken_for_a_loop():
    text = "".join(f'{{"kind": "follow_up", "owner": null, "turn": {turn}}},\n' for turn in range(120))
    with serving(lambda _: whole(text)) as server:
        assert model_of(server).ask(QUESTION, a_call()) == text


def test_text_that_no_database_can_hold_is_replaced():
    heard = []
    with serving(
        lambda _: [{"data": '{"choices": [{"delta": {"content": "a\\u0000b\\ud83d"}}]}'}, finish(), done()]
    ) as server:
        assert model_of(server).ask(QUESTION, a_call(), heard.append) == "a\ufffdb\ufffd"
    assert heard == ["a\ufffdb\ufffd"]


def test_names_that_are_none_are_not_reported():
    call = a_call()
    odd = {"model": "x" * 5_000, "service_tier": ["flex"], "system_fingerprint": "a\x00b", "id": 7}
    counts = {"prompt_tokens": -1, "completion_tokens": 10**30, "prompt_tokens_details": {"cached_tokens": True}}
    with serving(
        lambda _: [
            {"chunk": odd | {"choices": []}},
            delta("Yes."),
            delta("", "stop"),
            {"chunk": {"usage": counts}},
            done(),
        ]
    ) as server:
        model_of(server).ask(QUESTION, call)
    assert (call.model, call.service_tier, call.system_fingerprint) == (None, None, None)
    assert call.usage == UNKNOWN
