"""Objections and stage signals: said plainly, or not at all."""

import pytest

from pipeline.domain.documents import Transcript, Turn
from pipeline.summarizers.extractive.objections import objection
from pipeline.summarizers.extractive.sentences import split
from pipeline.summarizers.extractive.stages import stage_signal


def sentence(text):
    (only,) = split(Transcript(turns=(Turn(text=text, speaker="Kim"),)))
    return only


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Honestly, that's too expensive for us.", "price"),
        ("The price is a bit too high.", "price"),
        ("We don't have the budget this year.", "price"),
        ("That is way over our budget.", "price"),
        ("It's not the right time for us.", "timing"),
        ("The timeline looks too tight.", "timing"),
        ("We're happy with our current vendor.", "another vendor"),
        ("We found a cheaper alternative.", "another vendor"),
        ("Legal won't approve unlimited liability.", "legal or security"),
        ("Our security team has concerns with that.", "legal or security"),
        ("That is a deal breaker.", "a blocker"),
        ("I'm concerned about the migration.", "a concern"),
        ("My main concern is your platform's downtime.", "a concern"),
        ("The problem is the price.", "a concern"),
    ],
)
def test_a_plain_objection_is_recorded_by_kind(text, kind):
    (action,) = objection(sentence(text), buying=False)
    assert action.kind == "record_objection"
    assert action.text == f"Objection ({kind}): {text}"
    assert action.owner is None
    assert action.quotes[0].quote == text


@pytest.mark.parametrize(
    "text",
    [
        "Is it too expensive?",
        "It's not too expensive.",
        "If it is too expensive, tell me.",
        "They said it was over our budget.",
        "That's not a deal breaker.",
        "I'm not concerned about the migration.",
        "I'm worried about my knee.",
        "The problem is my back.",
        "We can't agree on where to eat.",
        "Lovely weather on the weekend.",
    ],
)
def test_what_is_asked_denied_supposed_or_off_topic_is_no_objection(text):
    assert list(objection(sentence(text), buying=False)) == []


@pytest.mark.parametrize(
    "text", ["We can't commit before the summer.", "The problem is that nobody has time.", "It's too early for us."]
)
def test_a_general_worry_counts_in_a_call_about_buying(text):
    assert list(objection(sentence(text), buying=False)) == []
    assert len(list(objection(sentence(text), buying=True))) == 1


@pytest.mark.parametrize(
    ("text", "stage"),
    [
        ("Can you send over the contract?", "Negotiation"),
        ("Please send me the order form.", "Negotiation"),
        ("We're ready to sign.", "Negotiation"),
        ("It has to go through legal first.", "Legal Review"),
        ("Legal is reviewing the terms.", "Legal Review"),
        ("We've decided to go with you.", "Closed Won"),
        ("We signed the agreement this morning.", "Closed Won"),
        ("We've decided to go with another vendor.", "Closed Lost"),
        ("We're not moving forward.", "Closed Lost"),
        ("We have decided not to renew.", "Closed Lost"),
    ],
)
def test_a_signal_proposes_its_stage(text, stage):
    (action,) = stage_signal(sentence(text))
    assert (action.kind, action.proposed_stage) == ("update_stage", stage)
    assert action.quotes[0].quote == text


@pytest.mark.parametrize(
    "text",
    [
        "We're not ready to sign.",
        "If we're ready to sign, we'll call.",
        "Are you ready to sign?",
        "Did we sign the agreement?",
        "They went with another vendor.",
        "I signed up for the gym.",
        "Ready to go ahead with the next slide.",
    ],
)
def test_no_signal_no_stage(text):
    assert list(stage_signal(sentence(text))) == []
