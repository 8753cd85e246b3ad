"""A model of a profile, and the question that the tests of its client ask: over real sockets to a scripted server."""

from time import monotonic

from pipeline.settings import Profile
from pipeline.summarizers.openai_chat.model import Model, Question
from pipeline.summarizers.port import CallReport

#: What must never be told of a failure.
SECRET = "Zanzibar"
QUESTION = Question(({"role": "user", "content": f"The customer in {SECRET} said yes."},), 100)


def profile_of(server, **settings):
    return Profile(summarizer="openai_chat", model="asked-model", base_url=server.url, **settings)


def model_of(server, **settings):
    return Model(profile_of(server, **settings))


def a_call(seconds=30.0):
    return CallReport(1, monotonic() + seconds)
