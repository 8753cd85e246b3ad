"""Files of documents in JSON, known by their content: lines, one object, or a list of them."""

import json

import pytest

from pipeline.errors import Problem
from pipeline.transcripts.batch import read_paths

ONE = {"document_id": "007", "account_id": "acme", "transcript": "Anna: hi"}
TWO = {"document_id": "b", "account_id": "acme", "turns": [{"speaker": "Ben", "text": "yes"}]}


@pytest.fixture
def given(tmp_path):
    def read(text, name="calls.txt", encoding="utf-8"):
        (tmp_path / name).write_bytes(text.encode(encoding))
        return list(read_paths([tmp_path / name]))

    return read


def ids(found):
    return [document.fields.document_id for document in found]


@pytest.mark.parametrize("name", ["calls.txt", "calls.json", "CALLS"])
@pytest.mark.parametrize("before", ["", "\ufeff", "\n \n"])
def test_lines_are_known_by_the_first(given, name, before):
    found = given(f"{before}{json.dumps(ONE)}\n{json.dumps(TWO)}\n", name)
    assert (ids(found), [document.place[-2:] for document in found]) == (
        ["007", "b"],
        [":3", ":4"] if "\n" in before else [":1", ":2"],
    )


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
def test_a_list_is_known_however_it_is_written(given, indent, encoding):
    found = given(json.dumps([ONE, TWO], indent=indent), "calls.json", encoding)
    assert (ids(found), [document.place.rpartition("/")[2] for document in found]) == (
        ["007", "b"],
        ["calls.json item 1", "calls.json item 2"],
    )


def test_one_pretty_object_is_one_document(given):
    (document,) = given(json.dumps(ONE, indent=1), "call.json")
    assert (document.fields.document_id, document.fields.account_id) == ("007", "acme")


def test_what_is_wrong_in_one_of_a_list_is_a_problem_with_its_number(given):
    found = given(json.dumps([ONE, {"document_id": 7, "account_id": "a", "transcript": "secret"}, "secret"], indent=1))
    assert [str(entry).rpartition("/")[2] for entry in found if isinstance(entry, Problem)] == [
        "calls.txt item 2 document_id: must be a string: quote it",
        "calls.txt item 3: must be an object",
    ]


def test_nan_and_half_a_pair_in_an_id_are_problems(given):
    (nan,) = given('[\n{"document_id": "a", "account_id": "a", "transcript": "x", "occurred_at": NaN}]')
    assert nan.message.startswith("NaN is not JSON")
    (half,) = given('[\n{"document_id": "a\\ud83d", "account_id": "a", "transcript": "x"}]')
    assert half.place.endswith("item 1 document_id")


@pytest.mark.parametrize(
    "text",
    [
        '{"results": {"document_id": "a"}}',
        '{"segments": [{"document_id": "a", "text": "hi"}]}',
        '[["document_id"]]',
        '{"document_id": "a"',
        '[00:00:01] Anna: the "document_id" is missing',
        '{"document_id": ' + "[" * 100_000,
    ],
)
def test_other_json_and_text_is_one_transcript(given, text):
    (document,) = given(text, "call.json")
    assert document.fields.document_id == "call.json"
