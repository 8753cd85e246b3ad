import pytest

from pipeline.errors import ItemFailure
from pipeline.transcripts import json_text
from pipeline.transcripts.json_text import value_of


@pytest.mark.parametrize(
    "text", ["", "hello", "[00:01:02] Anna: hi", "{laughs} so", '["Well" she said]', "[[unclear]] so"]
)
def test_what_only_looks_like_json_is_text(text):
    assert value_of(text) is None


def test_nan_and_the_infinities_are_null():
    assert value_of('{"a": [NaN, Infinity, -Infinity, 1]}') == {"a": [None, None, None, 1]}


def test_halves_of_surrogate_pairs_and_nul_become_the_replacement_character():
    assert value_of(r'{"a\u0000": ["x\ud83d", "\ud83d\ude00"]}') == {"a\ufffd": ["x\ufffd", "😀"]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1', "broken at line 1, column 8"),
        ('[{"a": 1}', "broken at line 1"),
        ('{"a": 1}\n{"a": 2}', "several JSON values"),
        ('{"a":' * 100_000, "nested too deeply"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a": ' + "1" * 5_000 + "}", "a number is too long"),
        ('[{"a": "secret", "b": 1, "a": "words"}]', "a field has two values in one object"),
    ],
)
def test_broken_json_is_refused_with_what_is_wrong(text, message):
    with pytest.raises(ItemFailure, match=rf"unreadable_input.*{message}"):
        value_of(text)


def test_a_field_that_says_the_same_twice_loses_nothing():
    assert value_of('{"a": [1], "a": [1]}') == {"a": [1]}


def test_more_values_than_any_call_has_are_refused_before_they_are_read(monkeypatch):
    monkeypatch.setattr(json_text, "MAX_VALUES", 3)
    with pytest.raises(ItemFailure, match="more than 3 values"):
        value_of("[[1,2],[3]]")
