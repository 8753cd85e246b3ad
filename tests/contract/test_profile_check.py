"""Checking a profile against a server with every fault that an operator can mend: one line that says what and how."""

import socket

import pytest
from openai_chat_bed import SECRET, profile_of

from benchmarks.model_server import answer, reply, serving, whole
from pipeline.errors import NotFound
from pipeline.settings import Settings
from pipeline.stages.check_profile import check_profile

KEY = "sk-of-nobody"


def checked(play, **settings):
    with serving(play) as server:
        profile = profile_of(server, api_key=KEY, **settings)
        return check_profile(Settings(profiles={"nightly": profile}), "nightly"), server.asked


def error(status, message, **fields):
    return [reply(status, {"error": {"message": f"{message} {SECRET}", **fields}})]


def only_structured(play):
    """The fault of a server that does answer as long as no structure is asked for."""
    return lambda asked: play if asked.is_structured else answer(asked)


def test_a_profile_that_works_is_asked_for_a_text_and_for_an_object():
    found, asked = checked(answer)
    assert (found.ok, found.to_do) == (True, None)
    assert found.state == "scripted-model answers, structured_output json_schema"
    assert [request.is_structured for request in asked] == [False, True]
    assert all(request.headers["authorization"] == f"Bearer {KEY}" for request in asked)


@pytest.mark.parametrize(
    ("play", "state", "to_do", "calls"),
    [
        (
            lambda _: error(401, "Incorrect API key provided", code="invalid_api_key"),
            "the key is missing or wrong",
            "set its api_key, best as CALLFOLD_PROFILES__NIGHTLY__API_KEY",
            1,
        ),
        (
            lambda _: error(403, "Project has no access", code="forbidden"),
            "the provider forbids this key",
            "have the provider allow this key the model asked-model",
            1,
        ),
        (
            lambda _: error(404, "The model does not exist", code="model_not_found"),
            "nothing by that name there",
            "is asked-model a model there, and http://127.0.0.1:",
            1,
        ),
        (
            lambda _: error(429, "You exceeded your quota", code="insufficient_quota"),
            "the provider's quota or credit is spent",
            "raise the quota",
            1,
        ),
        (
            lambda _: error(400, "Unsupported parameter", code="unsupported_parameter", param="temperature"),
            "the server does not take the request as the profile shapes it: correct its temperature",
            "leave out temperature",
            1,
        ),
        (
            lambda _: error(400, "Unsupported parameter: 'max_completion_tokens'", code="unsupported_parameter"),
            "correct its output_cap",
            "set output_cap to the other parameter",
            1,
        ),
        (
            only_structured(error(400, "response_format is not supported", param="response_format")),
            "correct its structured_output",
            "set structured_output to another than json_schema",
            2,
        ),
        (
            only_structured(whole("Here you are: it works!")),
            "the answer to a structured request is not the JSON that was asked for",
            "set structured_output to another than json_schema",
            2,
        ),
        (lambda _: [reply(503, "<html>down</html>")], "the provider is overloaded", "try again in some minutes", 1),
        (
            lambda _: [reply(200, "<html>a login page</html>")],
            "the provider's answer is not a chat completion",
            "is http://127.0.0.1:",
            1,
        ),
    ],
)
def test_what_is_wrong_is_said_with_what_to_do_and_in_our_words(play, state, to_do, calls):
    found, asked = checked(play, temperature=0.2)
    assert not found.ok
    assert state in found.state
    assert to_do in found.to_do
    assert len(asked) == calls, "a fault is not tried again"
    said = f"{found.state} {found.to_do}"
    assert SECRET not in said
    assert KEY not in said
    assert "\n" not in said


def test_an_address_where_nobody_listens_is_named():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
    settings = Settings(profiles={"p": {"summarizer": "openai_chat", "model": "m", "base_url": f"{url}?key=hunter2"}})
    found = check_profile(settings, "p")
    assert (found.ok, found.state) == (False, "no connection to the provider")
    assert f"is {url} right" in found.to_do
    assert "hunter2" not in found.to_do


@pytest.mark.parametrize("said", ["...", ""])
def test_an_answer_that_is_cut_or_empty_is_no_answer(said):
    def thinking(asked):
        end = {"finish": "length" if said else "stop"}
        return answer(asked) if asked.is_structured else [*whole(said)[:1], end, {"done": True}]

    found, _ = checked(thinking)
    assert not found.ok
    assert "raise output_tokens" in found.to_do


def test_a_profile_without_a_provider_is_made_and_not_called():
    settings = Settings(profiles={"other": {"summarizer": "nonsense"}})
    assert check_profile(settings, "extractive").ok
    found = check_profile(settings, "other")
    assert (found.ok, "no summarizer 'nonsense'" in found.state) == (False, True)
    with pytest.raises(NotFound):
        check_profile(settings, "third")
