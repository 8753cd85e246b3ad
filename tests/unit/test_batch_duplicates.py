"""Equal ids are refused with both places, equal words are two rows and a warning, wherever documents come from."""

import json
import zipfile

import pytest

from pipeline.domain.documents import Warning
from pipeline.errors import InvalidRequest
from pipeline.stages.submit import accepted
from pipeline.transcripts.batch import read_paths

CALL = "Anna: We agreed."


def folder(path, ids):
    for name in ids:
        (path / name).write_text(CALL)
    return [path]


def archive(path, ids):
    with zipfile.ZipFile(path / "calls.zip", "w") as made:
        for name in ids:
            made.writestr(name, CALL)
    return [path / "calls.zip"]


def table(path, ids):
    rows = "".join(f"{name},acme,{CALL}\n" for name in ids)
    (path / "calls.csv").write_text("document_id,account_id,transcript\n" + rows)
    return [path]


def lines(path, ids):
    rows = ({"document_id": name, "account_id": "acme", "transcript": CALL} for name in ids)
    (path / "calls.ndjson").write_text("\n".join(map(json.dumps, rows)))
    return [path]


def array(path, ids):
    rows = [{"document_id": name, "account_id": "acme", "transcript": CALL} for name in ids]
    (path / "calls.json").write_text(json.dumps(rows))
    return [path]


ALL = pytest.mark.parametrize("written", [folder, archive, table, lines, array])


@ALL
def test_equal_words_are_two_rows_and_a_warning(written, tmp_path):
    found = list(accepted(read_paths(written(tmp_path, ["a.txt", "b.txt", "c.txt"]))))
    assert [document.fields.document_id.rpartition("/")[2] for document, _ in found] == ["a.txt", "b.txt", "c.txt"]
    first = (Warning(code="identical_text", place="position 0"),)
    assert [extra for _, extra in found] == [(), first, first]


@pytest.mark.parametrize(
    ("written", "first", "second"),
    [
        (table, "calls.csv:2", "calls.csv:4"),
        (lines, "calls.ndjson:1", "calls.ndjson:3"),
        (array, "calls.json item 1", "calls.json item 3"),
    ],
)
def test_an_id_given_twice_is_refused_with_both_places(written, first, second, tmp_path):
    with pytest.raises(InvalidRequest) as refused:
        list(accepted(read_paths(written(tmp_path, ["007", "7", "007"]))))
    (problem,) = refused.value.problems
    assert problem.place == f"{tmp_path}/{second}"
    assert problem.message == f"document_id is the same as at {tmp_path}/{first}: give each document its own"


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_an_archive_holds_twice_is_refused(tmp_path):
    with pytest.raises(InvalidRequest, match=r"calls\.zip/a\.txt: document_id is the same as at .*calls\.zip/a\.txt"):
        list(accepted(read_paths(archive(tmp_path, ["a.txt", "a.txt"]))))


def test_a_file_that_two_paths_lead_to_is_refused(tmp_path):
    (tmp_path / "sub").mkdir()
    folder(tmp_path / "sub", ["a.txt"])
    with pytest.raises(InvalidRequest, match=r"sub/a\.txt: document_id is the same as at .*sub/a\.txt"):
        list(accepted(read_paths([tmp_path / "sub", tmp_path / "sub" / "a.txt"])))


@pytest.mark.parametrize("written", [folder, archive])
def test_two_spellings_of_one_name_are_one_id_and_it_is_said_why_both_places_look_alike(written, tmp_path):
    with pytest.raises(InvalidRequest, match=r"document_id is the same as at .*: one file is given twice, or"):
        list(accepted(read_paths(written(tmp_path, ["\u00fc.txt", "u\u0308.txt"]))))


@ALL
def test_long_ids_survive(written, tmp_path):
    name = "9007199254740993123" + "x" * 200
    (document,) = read_paths(written(tmp_path, [name]))
    assert document.fields.document_id.rpartition("/")[2] == document.digest_fields["document_id"].rpartition("/")[2]
    assert document.fields.document_id.endswith(name)
