"""Tables of documents: CSV as spreadsheets and databases export it."""

import csv
import io

import pytest

from pipeline.domain.documents import Warning
from pipeline.errors import Problem
from pipeline.transcripts.batch import read_paths, table

HEADER = "document_id,account_id,transcript\n"


@pytest.fixture
def given(tmp_path):
    """Write a table into the folder `rye` and read it."""

    def read(content, name="calls.csv", **options):
        (tmp_path / "rye").mkdir(exist_ok=True)
        path = tmp_path / "rye" / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return list(read_paths([path], **options))

    return read


def ids(found):
    return [document.fields.document_id for document in found]


def said(document):
    """All words, whatever the readers of transcripts make of them."""
    return " ".join(f"{turn.speaker}: {turn.text}" if turn.speaker else turn.text for turn in document.transcript.turns)


def losses(document):
    return [warning for warning in document.warnings if "speakers" not in warning.code]


def problems(found):
    """The places, from the file's name on, and the messages; never a customer's words in them."""
    assert all(isinstance(entry, Problem) for entry in found)
    assert "secret" not in " ".join(map(str, found))
    return [(entry.place.rpartition("/")[2], entry.message) for entry in found]


def test_each_record_is_a_document_with_the_fields_that_its_columns_name(given):
    header = " Document ID ,Account-Id,TRANSCRIPT,occurred_at,Owner Hint\n"
    (document,) = given(header + "c-1,acme,Anna: we agreed on it,2026-05-01T12:00:00+02:00,\n")
    assert document.fields.model_dump(mode="json", exclude_unset=True) == {
        "document_id": "c-1",
        "account_id": "acme",
        "occurred_at": "2026-05-01T10:00:00Z",
    }
    assert said(document) == "Anna: we agreed on it"
    assert document.place.endswith("/rye/calls.csv:2")


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_delimiter_is_that_of_the_header_whatever_the_words_hold(given, delimiter):
    header = delimiter.join(["document_id", "transcript"])
    (document,) = given(f'{header}\nc-1{delimiter}"Anna: a;b,c\td; e, f"\n')
    assert said(document) == "Anna: a;b,c\td; e, f"


def test_a_record_over_several_lines_is_one_and_its_place_its_first_line(given):
    found = given('\n document_id,transcript\r\na,"Anna: one\r\nBen: ""two"""\r\n\r\n,,\r\nb,Anna: three\r\n')
    assert [(document.fields.document_id, document.place.rpartition(":")[2]) for document in found] == [
        ("a", "3"),
        ("b", "7"),
    ]
    assert said(found[0]).split() == ["Anna:", "one", "Ben:", '"two"']


def test_what_others_call_a_column_is_understood(given):
    (document,) = given("Call ID;Account;Owner;Transcript\n7;acme;Dana;Anna: hi\n")
    assert (document.fields.document_id, document.fields.account_id, document.fields.owner_hint) == (
        "7",
        "acme",
        "Dana",
    )


def test_the_account_of_a_table_without_that_column_is_its_folders_or_the_one_given(given):
    content = "document_id,transcript\na,Anna: hi\n"
    assert [given(content)[0].fields.account_id, given(content, account="acme")[0].fields.account_id] == ["rye", "acme"]
    assert problems(given(HEADER + "a,,Anna: hi\n", account="acme")) == [("calls.csv:2 account_id", "Field required")]


@pytest.mark.parametrize("name", ["007", "9007199254740993123", "x" * 500, "1e5", " padded ", "ключ 😀"])
def test_ids_are_strings_and_survive(given, name):
    (document,) = given(f"{HEADER}{name},a,Anna: hi\n", id_prefix="nightly/")
    assert document.fields.document_id == document.digest_fields["document_id"] == name


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])
@pytest.mark.parametrize("name", ["calls.csv", "calls.txt", "calls"])
def test_it_is_read_in_the_encoding_that_it_is_in(given, encoding, name):
    rows = f"{HEADER}a,acme,Zoë: crème brûlée for all\n" + "b,acme,Anna: hi there\n" * 3
    document = given(rows.encode(encoding), name)[0]
    assert said(document) == "Zoë: crème brûlée for all"
    lossy = [Warning(code="lossy_decoding", place="cp1252")]
    assert losses(document) == (lossy if encoding == "cp1252" else [])


def test_a_legacy_byte_far_down_decides_for_the_whole_table(given):
    rows = "".join(f"{number},acme,Anna: {'x' * 1000}\n" for number in range(200))
    found = given((HEADER + rows + "last,acme,Zoë: we agreed on it\n").encode("cp1252"))
    assert (len(found), said(found[-1])) == (201, "Zoë: we agreed on it")
    assert [bool(losses(document)) for document in found[-2:]] == [False, True]


def test_a_broken_byte_among_good_ones_is_replaced_and_said(given):
    rows = "".join(f"{number},acme,Zoë: {'x' * 1000}\n" for number in range(200)).encode()
    found = given(HEADER.encode() + rows + b"last,acme,Anna: we agreed \xff on it\n")
    assert (said(found[0])[:5], losses(found[0])) == ("Zoë: ", [])
    assert said(found[-1]) == "Anna: we agreed \ufffd on it"
    assert [warning.code for warning in losses(found[-1])] == ["lossy_decoding", "replaced_characters"]


def test_a_cell_longer_than_128_kib_is_read(given):
    (document,) = given(f'{HEADER}a,acme,"Anna: {" ".join(map(str, range(60_000)))}"\n')
    assert said(document).endswith(" 59998 59999")


def test_a_record_longer_than_any_call_ends_the_table_in_bounded_memory(given, monkeypatch):
    monkeypatch.setattr(table, "MAX_RECORD", 1000)
    first, *rest = given(f'{HEADER}a,acme,Anna: hi\nb,acme,"Anna: ' + "secret\n" * 500)
    assert first.fields.document_id == "a"
    ((place, message),) = problems(rest)
    assert place == "calls.csv:3"
    assert message.startswith("a quote is not closed or out of place, or a cell is longer than 1,000 characters")


@pytest.mark.parametrize("cell", ['"secret', '"secret" x', '"Anna: ""secret'])
def test_a_wrong_quote_is_a_problem_and_never_swallows_the_rest(given, cell):
    found = given(f"{HEADER}a,acme,Anna: hi\nb,acme,{cell}\nc,acme,Anna: hi\n")
    assert ids(found[:1]) == ["a"]
    assert problems(found[1:])[0][0] == "calls.csv:3"


def test_a_document_without_words_is_a_row(given):
    found = given(f"{HEADER}a,acme,\nb,acme\n")
    assert [document.fault.code for document in found] == ["empty_input", "empty_input"]


@pytest.mark.parametrize(
    ("header", "wrong"),
    [
        (
            "document_id,transcript,colour\n",
            [("calls.csv:1 column 3", "unknown column: leave it out; known")],
        ),
        ("document_id,secret words,transcript\n", [("calls.csv:1 column 2", "unknown")]),
        ("document_id,what Anna said!,transcript\n", [("calls.csv:1 column 2", "unknown")]),
        ("transcript\n", [("calls.csv:1", "no column document_id")]),
        ("document_id\n", [("calls.csv:1", "no column transcript")]),
        ("", [("calls.csv:1", "no column document_id"), ("calls.csv:1", "no column transcript")]),
        ("document_id,transcript,Document ID\n", [("calls.csv:1", "2 columns document_id: leave one")]),
    ],
)
def test_a_wrong_header_is_a_problem_and_nothing_below_it_is_read(given, header, wrong):
    found = given(f"{header}a,Anna: hi,x\n" if header else "")
    assert [entry.place.rpartition("/")[2] for entry in found] == [place for place, _ in wrong]
    assert all(entry.message.startswith(message) for entry, (_, message) in zip(found, wrong, strict=True))


def test_too_many_cells_are_a_problem_and_empty_ones_are_not(given):
    found = given("document_id,transcript,\na,Anna: hi,\nb,Anna: hi, secret\nc,Anna: hi,,,\n")
    assert (ids([found[0], found[2]]), problems(found[1:2])) == (
        ["a", "c"],
        [("calls.csv:3", "3 cells under 2 columns: quote cells with the delimiter in them")],
    )


def test_a_wrong_field_is_a_problem_at_its_line(given):
    found = given("document_id,transcript,occurred_at\na,Anna: hi,yesterday secret\n,Anna: hi,\n")
    assert [place for place, _ in problems(found)] == ["calls.csv:2 occurred_at", "calls.csv:3 document_id"]


def test_what_is_not_text_is_a_problem(given):
    far_down = HEADER.encode() + b"\n" * 65_536 + b"\x01\xff\n" * 9_999
    ((place, message),) = problems(given(far_down))
    assert (place, message[:20]) == ("calls.csv", "the file is not text")


def test_a_transcript_that_begins_with_such_words_is_no_table(given):
    (document,) = given("Transcript, by document_ids\nAnna: hi\n", "call.txt")
    assert document.fields.document_id == "call.txt"


def test_one_record_is_in_memory_at_a_time(tmp_path):
    (tmp_path / "calls.csv").write_text(f'{HEADER}a,acme,Anna: hi\nb,acme,"open')
    found = read_paths([tmp_path / "calls.csv"])
    assert next(found).fields.document_id == "a"


def test_what_a_spreadsheet_writes_is_read_the_same(given):
    rows = [
        ["document_id", "owner_hint", "transcript"],
        ["a", "Dana", 'Anna: "well", she said;\n\nBen:\tyes,\r\nno'],
        ["b", "", ""],
        ["", "", ""],
    ]
    data = io.StringIO()
    csv.writer(data, delimiter=";", lineterminator="\r\n").writerows(rows)
    found = given(data.getvalue().encode("utf-8-sig"))
    assert ids(found) == ["a", "b"]
    assert [document.fields.owner_hint for document in found] == ["Dana", None]
    assert said(found[0]).split() == ["Anna:", '"well",', "she", "said;", "Ben:", "yes,", "no"]
