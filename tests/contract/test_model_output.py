"""A model's text is a valid Summary or an `invalid_output` that names field and rule and repeats nothing."""

import json

import pytest

from pipeline.domain.actions import Quote
from pipeline.errors import ItemFailure
from pipeline.summarizers.output import parse_output

ACTION = {"kind": "follow_up", "text": "Send it.", "quotes": [{"quote": "I'll send it by Friday.", "turn": 3}]}


def test_an_object_with_a_summary_and_actions_is_a_summary():
    summary = parse_output(json.dumps({"summary": "They agreed.", "actions": [ACTION]}))
    assert summary.summary == "They agreed."
    assert summary.actions[0].quotes == (Quote(quote="I'll send it by Friday.", turn=3),)


def test_a_code_fence_around_the_object_is_taken_off():
    assert parse_output('```json\n{"summary": "ok", "actions": []}\n```\n').summary == "ok"


def test_nul_and_lone_surrogates_become_the_replacement_character():
    assert parse_output('{"summary": "a\\u0000b\\ud800c"}').summary == "a\ufffdb\ufffdc"


@pytest.mark.parametrize(
    ("raw", "detail"),
    [
        ("", "the output is not one JSON object"),
        ("Zanzibar", "the output is not one JSON object"),
        ('{"summary": "Zanzibar', "the output is not one JSON object"),
        ('{"summary": "x"} {"summary": "Zanzibar"}', "the output is not one JSON object"),
        ('{"summary": "- a", "- Zanzibar"}', "the output is not one JSON object"),
        ("[" * 100_000, "the output is nested too deeply"),
        ("[]", "the output must be an object"),
        ('"Zanzibar"', "the output must be an object"),
        ("{}", "summary is missing"),
        ('{"summary": null}', "summary must be text"),
        ('{"summary": ""}', "summary must not be empty"),
        ('{"summary": " \\n"}', "summary must not be blank"),
        ('{"summary": "x", "summary": "Zanzibar"}', "an object repeats a key"),
        ('{"summary": NaN}', "NaN and Infinity are not JSON numbers"),
        ('{"summary": "x", "actions": -Infinity}', "NaN and Infinity are not JSON numbers"),
        ('{"summary": 1e999}', "a number is too large"),
        ('{"summary": ' + "1" * 5_000 + "}", "a number is too large"),
        ('{"summary": -9223372036854775809}', "a number is too large"),
        ('{"summary": "x", "Zanzibar": 1}', "the output has a field that the schema does not know"),
        ('{"summary": "x", "usage": {}}', "the output has a field that the schema does not know"),
        ('{"summary": "x", "actions": {}}', "actions must be a list"),
        ('{"summary": "x", "actions": ["Zanzibar"]}', "actions[0] must be an object"),
    ],
)
def test_anything_else_names_field_and_rule_but_not_the_value(raw, detail):
    assert failure_of(raw) == detail


@pytest.mark.parametrize(
    ("changes", "detail"),
    [
        ({"kind": "Zanzibar"}, "actions[1].kind is not one of the allowed values"),
        ({"text": " "}, "actions[1].text must not be blank"),
        ({"text": "Zanzibar" * 500}, "actions[1].text is too long"),
        ({"due_on": "Zanzibar"}, "actions[1].due_on must be a date such as 2026-01-31"),
        ({"due_on": "2026-02-30"}, "actions[1].due_on must be a date of the calendar"),
        ({"Zanzibar": 1}, "actions[1] has a field that the schema does not know"),
        ({"quotes": [{"quote": "x", "turn": 1.5}]}, "actions[1].quotes[0].turn must be a whole number"),
        ({"quotes": [{"quote": "x", "turn": "Zanzibar"}]}, "actions[1].quotes[0].turn must be a whole number"),
    ],
)
def test_a_wrong_action_is_named_by_its_place(changes, detail):
    assert failure_of(json.dumps({"summary": "x", "actions": [ACTION, ACTION | changes]})) == detail


def failure_of(raw):
    with pytest.raises(ItemFailure) as failure:
        parse_output(raw)
    assert failure.value.error_code == "invalid_output"
    assert "Zanzibar" not in str(failure.value)
    assert failure.value.__cause__ is None
    assert failure.value.__suppress_context__ or failure.value.__context__ is None
    return failure.value.detail
