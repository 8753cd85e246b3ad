"""Whatever JSON a server sends, an answer is a text or a named trouble; nothing else is raised, nothing heard twice."""

from time import monotonic

from hypothesis import given
from hypothesis import strategies as st

from pipeline.summarizers.openai_chat.answer import Answer
from pipeline.summarizers.openai_chat.conditions import CONDITIONS, Trouble, embedded, refused
from pipeline.summarizers.port import CallReport

LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9)
ODD = LEAVES | st.lists(LEAVES, max_size=2) | st.dictionaries(st.sampled_from(("code", "x")), LEAVES, max_size=2)


def an_object(**fields):
    """An object with some of the fields, each as it should be or odd."""
    return st.fixed_dictionaries({}, optional={name: value | ODD for name, value in fields.items()})


WORDS = st.sampled_from(("They said", " ", "\n" * 300, "stop", "\ud800"))
MESSAGES = an_object(content=WORDS, refusal=st.just(""))
CHOICES = an_object(
    index=st.just(0), delta=MESSAGES, message=MESSAGES, finish_reason=st.sampled_from(("stop", "length", "error"))
)
USAGES = an_object(prompt_tokens=st.integers(), prompt_tokens_details=an_object(cached_tokens=st.integers()))
ERRORS = an_object(
    code=st.sampled_from(("429", 502, "insufficient_quota")),
    type=st.just("server_error"),
    param=st.just("response_format"),
    message=st.just("context length"),
    detail=st.lists(an_object(loc=st.just(["body", "seed"])), max_size=2),
    metadata=an_object(flagged_input=WORDS),
    innererror=an_object(code=st.just("ResponsibleAIPolicyViolation")),
)
BODIES = an_object(
    choices=st.lists(CHOICES, max_size=2), usage=USAGES, model=st.just("m"), id=st.just("7"), error=ERRORS
)


@given(st.lists(BODIES, max_size=4))
def test_any_bodies_give_a_text_or_a_trouble(bodies):
    heard, met = [], None
    answer = Answer(100, CallReport(1, monotonic()), heard.append)
    try:
        for body in bodies:
            answer.take(body)
        assert answer.text() == "".join(heard)
    except Trouble as trouble:
        met = trouble.condition
    assert met is None or met in CONDITIONS


@given(
    st.integers(300, 599), ERRORS | ODD, st.dictionaries(st.sampled_from(("retry-after", "retry-after-ms")), st.text())
)
def test_any_refusal_is_a_failure_of_the_table(status, error, headers):
    failure = refused(status, error, headers, 0.0).failure()
    assert failure.retry_after is None or failure.retry_after > 0
    assert embedded(error).failure().retry_after is None


@given(st.integers(1, 8), st.text("ab \n", max_size=400))
def test_a_text_is_heard_once_whatever_its_pieces(size, words):
    text, heard = f"{words}.", []
    answer = Answer(1_000, CallReport(1, monotonic()), heard.append)
    for start in range(0, len(text), size):
        answer.take({"choices": [{"index": 0, "delta": {"content": text[start : start + size]}}]})
    answer.take({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    assert answer.text() == "".join(heard) == text
