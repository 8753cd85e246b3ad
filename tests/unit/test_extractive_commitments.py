"""What counts as a commitment, what is only talk, whose it is and when it is due."""

import pytest

from pipeline.domain.documents import Transcript, Turn
from pipeline.summarizers.extractive.commitments import commitments
from pipeline.summarizers.extractive.sentences import split


def found(text, speaker="Dana Reyes"):
    (sentence,) = split(Transcript(turns=(Turn(text=text, speaker=speaker),)))
    return list(commitments(sentence, lambda label: label))


@pytest.mark.parametrize(
    ("text", "told", "due"),
    [
        ("I'll send the quote by Friday.", "send the quote by Friday", "by Friday"),
        ("Great, I\u2019ll send you the quote by Friday.", "send them the quote by Friday", "by Friday"),
        ("We will get back to you tomorrow.", "get back to them tomorrow", "tomorrow"),
        ("Let me check with my manager.", "check with their manager", None),
        ("I'm going to email you the deck this afternoon.", None, "this afternoon"),
        ("We'll schedule a demo next Tuesday.", "schedule a demo next Tuesday", "next Tuesday"),
        ("I will follow up.", "follow up", None),
        ("Um, I'll, uh, call you back on Monday morning.", "call them back on Monday morning", "on Monday morning"),
        ("Sure, will send it over by end of day.", "send it over by end of day", "by end of day"),
        ("I'll put together a proposal and share it with you within two weeks.", None, "within two weeks"),
        ("I'll have the numbers to you by March 3rd.", "have the numbers to them by March 3rd", "by March 3rd"),
        ("When I'm back in the office, I'll forward you the contract.", "forward them the contract", None),
        ("Don't worry, I'll send you the invoice.", "send them the invoice", None),
        ("As I said, we'll set up a follow-up call next week.", None, "next week"),
        ("I'll find out by tomorrow if that works for you.", None, "by tomorrow"),
        ("I'll check with the engineering team whether it scales.", None, None),
        ("We'll open a ticket with our vendor today.", "open a ticket with their vendor today", "today"),
        ("I'll give you a call at 3 pm.", "give them a call at 3 pm", "at 3 pm"),
        ("I'm gonna loop in Priya.", "loop in Priya", None),
        ("I'll I'll send the the recording tonight.", "send the recording tonight", "tonight"),
        ("i 'll look into that .", "look into that", None),
        ("okay , i 'm gon na send you the form by tomorrow .", "send them the form by tomorrow", "by tomorrow"),
    ],
)
def test_a_promise_with_something_left_to_do_is_a_follow_up(text, told, due):
    (action,) = found(text)
    assert action.kind == "follow_up"
    assert action.owner == "Dana Reyes"
    assert action.due_text == due
    if told:
        assert action.text == f"Dana Reyes will {told}."
    assert action.quotes[0].quote == text


@pytest.mark.parametrize(
    "text",
    [
        "Should I send you the quote by Friday?",
        "I'll send it by Friday, okay?",
        "Would you send us the contract?",
        "If I send the quote by Friday, they may sign.",
        "If you like, I'll send you the deck.",
        "I'll send you the deck if you are interested.",
        "Maybe I'll send you the quote tomorrow.",
        "I think we'll schedule a demo next week.",
        "I could send you the quote by Friday.",
        "I would send you the deck tomorrow.",
        "I might call you tomorrow.",
        "I won't send the quote by Friday.",
        "I will not send you the contract.",
        "We're not going to send you the contract today.",
        "I'm never going to send you that invoice.",
        "It's not that I'll send you the quote.",
        "I sent the quote on Friday.",
        "We emailed you the contract yesterday.",
        "He said I'll send you the quote by Friday.",
        "She told me, I'll call you tomorrow.",
        "They promised that we will get a refund tomorrow.",
        "He will send you the quote by Friday.",
        "My colleague will send the contract tomorrow.",
        "They'll get back to you next week.",
        "Let me see.",
        "Let me share my screen.",
        "I'll share my screen with you.",
        "Let me think about it.",
        "We'll see you tomorrow.",
        "I'll be in Boston next week.",
        "I'll tell you a story.",
        "We'll talk about pricing in a minute.",
        "I'll go through the deck now.",
        "I'll send you the link in the chat right now.",
        "Usually I'll send the invoice at the end of the month.",
        "Let's say I'll send you the quote.",
        "Have a great weekend, talk to you soon.",
        "You should send me the quote by Friday.",
        "I'll come back to that point.",
        "We will get to that slide.",
        "I'll give you an example.",
        "I love the mountains on the weekend.",
        "I'll call that a win.",
        "I'm sending good vibes.",
    ],
)
def test_talk_is_no_commitment(text):
    assert found(text) == []


def test_two_promises_in_one_sentence_are_two_follow_ups():
    first, second = found("I'll send the quote today, and we will call you on Monday.")
    assert first.text == "Dana Reyes will send the quote today."
    assert second.text == "Dana Reyes will call them on Monday."
    assert (first.due_text, second.due_text) == ("today", "on Monday")


def test_the_due_words_are_those_of_the_promise_not_of_its_neighbours():
    (action,) = found("I was out on Tuesday, but I'll send the deck tomorrow, and we meet on Friday.")
    assert action.due_text == "tomorrow"


def test_markup_stays_in_the_quote_and_leaves_the_text():
    (action,) = found("{vocalsound} I'll send <UNSURE>you</UNSURE> the contract  tomorrow .")
    assert action.text == "Dana Reyes will send them the contract tomorrow."
    assert action.quotes[0].quote == "{vocalsound} I'll send <UNSURE>you</UNSURE> the contract  tomorrow ."


def test_without_an_owner_the_text_begins_with_the_verb():
    (sentence,) = split(Transcript(turns=(Turn(text="I'll send you what you need by noon."),)))
    (action,) = commitments(sentence, lambda _label: None)
    assert (action.owner, action.text) == (None, "Send them what they need by noon.")
