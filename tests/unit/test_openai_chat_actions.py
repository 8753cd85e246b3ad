"""Actions as a model gives them: what counts, what is named as wrong, and what parts of a call have in common."""

import json

import pytest

from pipeline.domain.actions import ProposedAction, Quote
from pipeline.domain.documents import DocumentFields, Transcript, Turn
from pipeline.domain.verify_quotes import verify_quotes
from pipeline.errors import ItemFailure
from pipeline.summarizers.openai_chat.actions import SCHEMA, parse_actions, people, united

CALL = Transcript(
    turns=(
        Turn(speaker="Dana O\u2019Brien ", text="I'll send you a revised quote by Friday."),
        Turn(speaker="Speaker 2", text="Good."),
    )
)
FIELDS = DocumentFields(document_id="call-1", account_id="acme", owner_hint="sam@example.com")
OWNERS = people(CALL, FIELDS)
ACTION = {
    "kind": "follow_up",
    "text": "Send the revised quote",
    "owner": None,
    "due_text": None,
    "due_on": None,
    "proposed_stage": None,
    "quotes": [{"turn": 0, "quote": "I'll send you a revised quote"}],
}


def said(**changes):
    return json.dumps({"actions": [ACTION | changes]})


def objects(schema):
    if schema.get("type") == "object":
        yield schema
    for part in (*schema.get("properties", {}).values(), *filter(None, [schema.get("items")])):
        yield from objects(part)


def test_the_schema_keeps_to_what_every_server_understands():
    for found in objects(SCHEMA):
        assert found["required"] == list(found["properties"])
        assert found["additionalProperties"] is False
    words = json.dumps(SCHEMA)
    for word in ("minLength", "maxLength", "pattern", "format", "minItems", "maxItems", "minimum", "$ref", "oneOf"):
        assert f'"{word}"' not in words


def test_the_schema_asks_for_the_fields_that_are_read_and_no_others():
    action = SCHEMA["properties"]["actions"]["items"]
    whole = ACTION | {"owner": "Dana O'Brien", "due_text": "by Friday", "due_on": "2026-03-06", "proposed_stage": "won"}
    assert action["required"] == list(whole)
    assert action["properties"]["quotes"]["items"]["required"] == list(whole["quotes"][0])
    (read,) = parse_actions(json.dumps({"actions": [whole]}), OWNERS)
    assert read.model_dump(include=set(whole) - {"owner", "quotes"}) == {
        name: whole[name] for name in whole if name not in ("owner", "quotes")
    }
    for kind in action["properties"]["kind"]["enum"]:
        assert parse_actions(said(kind=kind), OWNERS)[0].kind == kind


@pytest.mark.parametrize(
    ("raw", "condition", "problem"),
    [
        (said()[:-1], "output_invalid_json", "the output is not one JSON object"),
        (f"Here you are: {said()}", "output_invalid_json", "the output is not one JSON object"),
        (said(due_on=None).replace("null", "NaN"), "output_invalid_json", "NaN and Infinity are not JSON numbers"),
        (said(kind="win_deal"), "output_schema_invalid", "actions[0].kind is not one of the allowed values"),
        (said(text=" "), "output_schema_invalid", "actions[0].text must not be blank"),
        (said(due_on="2026-02-30"), "output_schema_invalid", "actions[0].due_on must be a date of the calendar"),
        (said(due_on="Friday"), "output_schema_invalid", "actions[0].due_on must be a date such as 2026-01-31"),
        (
            said(quotes=[{"turn": 0, "quote": "x", "document_id": "call-2"}]),
            "output_schema_invalid",
            "actions[0].quotes[0] has a field that the schema does not know",
        ),
        (said(reasons=[]), "output_schema_invalid", "actions[0] has a field that the schema does not know"),
        (
            said(owner="Mallory"),
            "output_reference_invalid",
            "actions[0].owner is not one of the call's speakers",
        ),
    ],
)
def test_what_is_wrong_is_named_by_its_field_and_its_condition(raw, condition, problem):
    with pytest.raises(ItemFailure) as failure:
        parse_actions(raw, OWNERS)
    assert (failure.value.error_code, failure.value.condition, failure.value.detail) == (
        "invalid_output",
        condition,
        problem,
    )


@pytest.mark.parametrize("name", ["Dana O'Brien", "Dana O\u2019Brien ", "Da\u200bna  O\u2018Brien"])
def test_an_owner_is_known_whatever_the_marks_in_the_name(name):
    (action,) = parse_actions(said(owner=name), OWNERS)
    assert (action.owner, action.reasons) == ("Dana O\u2019Brien ", ())


def test_an_owner_may_be_the_one_whom_the_caller_names():
    assert parse_actions(said(owner="sam@example.com"), OWNERS)[0].owner == "sam@example.com"


@pytest.mark.parametrize("label", ["Speaker 2", " Speaker  2"])
def test_a_generic_label_is_a_speaker_and_nobodys_name(label):
    (action,) = parse_actions(said(owner=label), OWNERS)
    assert (action.owner, action.reasons) == (None, ())


def test_one_label_for_the_whole_call_owns_nothing_but_the_hinted_owner_may():
    one = Transcript(turns=CALL.turns[:1] * 2)
    owners = people(one, FIELDS)
    assert [parse_actions(said(owner=name), owners)[0].owner for name in ("Dana O'Brien", "sam@example.com")] == [
        None,
        "sam@example.com",
    ]
    hinted = people(one, FIELDS.model_copy(update={"owner_hint": "Dana O'Brien"}))
    assert parse_actions(said(owner="Dana O'Brien"), hinted)[0].owner == "Dana O'Brien"


def test_an_action_of_nobody_in_the_call_is_there_to_be_reviewed():
    proposed = parse_actions(said(owner="Mallory"), OWNERS, strict=False)
    (found,) = verify_quotes(proposed, FIELDS, CALL, lambda _: None)
    assert (found.owner, found.reasons, len(found.evidence)) == (None, ("unknown_owner",), 1)


def test_a_blank_where_null_is_meant_is_null():
    (action,) = parse_actions(said(owner="", due_text=" ", due_on="", proposed_stage=""), OWNERS)
    assert (action.owner, action.due_text, action.due_on, action.proposed_stage) == (None, None, None, None)


def test_actions_of_parts_that_say_the_same_unite_their_quotes():
    def of(text, turn, **more):
        quotes = (Quote(quote=f"quote of turn {turn}", turn=turn),)
        return ProposedAction(kind="follow_up", text=text, owner="Dana", quotes=quotes, **more)

    one, other = of("Send the quote", 1), of("Call the bank", 2)
    again = of(" Send  the\u00a0quote", 9, due_on="2026-03-06", reasons=("unknown_owner",))
    first, second = united([(one, other), (again,)])
    assert (first.text, [quote.turn for quote in first.quotes]) == ("Send the quote", [1, 9])
    assert (first.due_on, first.reasons) == ("2026-03-06", ("unknown_owner",))
    assert second == other
    assert len(united([(one,), (one.model_copy(update={"owner": "Kim"}),)])) == 2
