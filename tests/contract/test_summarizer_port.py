"""The port's suite, for every summarizer; `openai_chat` asks the scripted model server on loopback."""

import socket

import pytest

from benchmarks.model_server import serving
from pipeline.domain.documents import DocumentFields, Transcript, Turn
from pipeline.domain.results import Summary
from pipeline.errors import ItemFailure, NotFound
from pipeline.settings import Profile, Settings
from pipeline.summarizers.port import SummaryRequest
from pipeline.summarizers.registry import summarizer
from pipeline.summarizers.unrecorded import Unrecorded

CALL = (
    ("Dana", "Thanks for your time. We looked at the pallet scanner that you use at the gate."),
    ("Kim", "It is slow, and honestly, your new one is too expensive for us."),
    ("Dana", "Understood. I'll send a revised quote by Friday."),
    ("Kim", "Good. I'll check with our finance team, and then it has to go through legal."),
)
ODD = {
    "blank turns": ((None, ""), ("Dana", " \n "), (None, "\t")),
    "one turn": (("Dana", "Hello."),),
    "one word": ((None, "ok"),),
    "emoji": (("😀", "😀😀"), ("Kim", "👩‍👩‍👧 🎉!")),
    "Chinese": (("顾问", "我明天把报价发给您。"), ("客户", "太贵了，我们没有预算。")),  # noqa: RUF001 - Chinese marks
    "Hebrew": (("דנה", "אשלח לך את ההצעה מחר."), ("קים", "יקר מדי.")),
    "NUL and a lone surrogate": (("Da\0na", "I'll send\0 the quote \ud800 by Friday."), ("Kim", "\0")),
    "markup": (("Dana", "<UNSURE>I'll</UNSURE> send {vocalsound} <UNIN/>"), ("Kim", "</transcript> <|endoftext|>")),
    "no speakers": tuple((None, text) for _, text in CALL),
    "2,000 turns": CALL * 500,
    "one huge line": (("Dana", "I'll send the quote by Friday and " * 30_000),),
    "one huge word": (("Dana", "a" * 1_000_000),),
    "a long label": (("Dana " * 2_000, "I'll send the quote by Friday."), ("Kim", "Thank you, that is good to have.")),
}


@pytest.fixture(params=["extractive", "scripted", "openai_chat"])
def subject(request, tmp_path_factory, monkeypatch):
    settings = Settings(data_dir=tmp_path_factory.getbasetemp() / "vocabularies")
    if request.param != "openai_chat":
        refuse_sockets(monkeypatch)
        yield summarizer(Profile(summarizer=request.param), settings)
        return
    with serving() as server:
        profile = Profile(summarizer="openai_chat", base_url=server.url, model="m", context_tokens=32_000)
        yield summarizer(profile, settings)


def refuse_sockets(monkeypatch):
    def refuse(*_args, **_kwargs):
        raise AssertionError("a summarizer opened a socket")

    for name in ("connect", "connect_ex", "bind"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def asked(said):
    return SummaryRequest(
        fields=DocumentFields(document_id="call-1", account_id="acme"),
        transcript=Transcript(turns=tuple(Turn(speaker=speaker, text=text) for speaker, text in said)),
        language=None,
    )


def attempt(number=1):
    return Unrecorded(Profile(), 60.0, number)


def test_an_answer_is_a_summary(subject):
    assert isinstance(subject.summarize(asked(CALL), attempt()), Summary)


def test_a_summary_survives_its_own_json(subject):
    summary = subject.summarize(asked(CALL), attempt())
    assert Summary.model_validate_json(summary.model_dump_json()) == summary


def test_the_same_request_gives_the_same_summary(subject):
    assert subject.summarize(asked(CALL), attempt(1)) == subject.summarize(asked(CALL), attempt(2))


@pytest.mark.parametrize("said", [CALL, *ODD.values()], ids=["a call", *ODD])
def test_any_transcript_gives_a_summary_with_verbatim_quotes_or_an_item_failure(subject, said):
    request = asked(said)
    try:
        summary = subject.summarize(request, attempt())
    except ItemFailure as failure:
        assert_without_words_of(request.transcript, failure)
    else:
        assert_quotes_are_verbatim(request.transcript, summary)


def test_an_unknown_summarizer_is_not_found():
    with pytest.raises(NotFound, match="extractive, openai_chat, scripted"):
        summarizer(Profile(summarizer="oracle"), Settings())


def assert_quotes_are_verbatim(transcript, summary):
    for action in summary.actions:
        assert action.quotes
        for quote in action.quotes:
            assert len(quote.quote) >= 12
            assert quote.quote in transcript.turns[quote.turn].text


def assert_without_words_of(transcript, failure):
    words = {word for turn in transcript.turns for word in turn.text.split()}
    assert not words & set(failure.detail.split())
