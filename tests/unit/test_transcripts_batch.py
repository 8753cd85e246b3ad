"""Batches: what is read, in which order, under which ids, and what is refused with its place."""

import hashlib
import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from pipeline.domain.canonical import canonical
from pipeline.domain.documents import DocumentInput, Fault, IncomingDocument, Warning
from pipeline.errors import Problem
from pipeline.transcripts.batch import document as documents
from pipeline.transcripts.batch import incoming, ndjson, read_paths
from pipeline.transcripts.source import MAX_TURNS

EXAMPLES = Path(__file__).parents[2] / "examples" / "calls"
NOTHING = "nothing to read: there is no file but hidden ones, recordings and pictures"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "rye").mkdir()
    return tmp_path / "rye"


def ids(paths, **options):
    return [document.fields.document_id for document in read_paths(paths, **options)]


def lines(folder, *rows):
    path = folder / "calls.ndjson"
    path.write_bytes(b"\n".join(row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows))
    return list(read_paths([path]))


def row(**fields):
    return {"document_id": "d", "account_id": "a", "transcript": "Hello there."} | fields


def test_a_file_is_named_by_its_path_and_its_account_by_its_folder(folder):
    (folder / "May").mkdir()
    (folder / "May" / "Call.VTT").write_bytes(b"Anna: hi")
    (document,) = read_paths([folder], id_prefix="nightly/2026-05-01/")
    sha256 = hashlib.sha256(b"Anna: hi").hexdigest()
    assert document.fields.model_dump(exclude_unset=True) == {
        "document_id": "nightly/2026-05-01/May/Call.VTT",
        "account_id": "May",
    }
    assert document.source_sha256 == sha256
    assert document.digest_fields == {
        "document_id": "nightly/2026-05-01/May/Call.VTT",
        "account_id": "May",
        "transcript": {"sha256": sha256},
    }


def test_a_file_given_by_itself_is_named_by_its_name_alone(folder, monkeypatch):
    (folder / "call.txt").write_bytes(b"hi")
    monkeypatch.chdir(folder)
    (document,) = read_paths([Path("call.txt")])
    assert (document.fields.document_id, document.fields.account_id) == ("call.txt", "rye")
    (document,) = read_paths([Path("call.txt")], account="acme")
    assert document.fields.account_id == "acme"


def test_the_order_and_the_ids_are_those_of_the_composed_relative_paths(folder):
    for name in ("b.txt", "a/z.txt", "u\u0308.txt", "a.txt", "z.txt"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(b"hi")
    assert ids([folder]) == ["a.txt", "a/z.txt", "b.txt", "z.txt", "\u00fc.txt"]


JUNK = ("._call.vtt", ".DS_Store", "~$call.txt", "a/.git/x.txt", "Thumbs.db", "a/Desktop.ini", "__MACOSX/b.txt")


def test_junk_recordings_and_pictures_are_skipped_and_logged(folder):
    for name in (*JUNK, "a.png", "b.PNG", "c.mp4", "call.srt"):
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / name).write_bytes(b"hi")
    with capture_logs() as logs:
        assert ids([folder]) == ["call.srt"]
    assert {(entry["extension"], entry["count"]) for entry in logs if entry["event"] == "media_skipped"} == {
        (".png", 2),
        (".mp4", 1),
    }
    assert {entry["name"] for entry in logs if entry["event"] == "junk_skipped"} == {
        "._call.vtt",
        ".DS_Store",
        "~$call.txt",
        "a/.git",
        "Thumbs.db",
        "a/Desktop.ini",
        "__MACOSX",
    }


def test_any_other_file_is_a_document_whatever_its_name(folder):
    names = ("call", "call.VTT", "letter.pdf", "old.doc", "words.TXT")
    for name in names:
        (folder / name).write_bytes(b"%PDF-1.7" if name == "letter.pdf" else b"\xd0\xcf\x11\xe0" + bytes(range(99)))
    (folder / "call").write_bytes(b"Anna: we agreed on it")
    found = list(read_paths([folder]))
    assert [document.fields.document_id for document in found] == list(names)
    assert [document.fault and document.fault.code for document in found] == [None, *["unreadable_input"] * 4]


def test_links_that_leave_the_folder_or_lead_nowhere_are_problems(folder, tmp_path):
    (tmp_path / "outside.txt").write_bytes(b"secret")
    (tmp_path / "other").mkdir()
    (folder / "call.txt").write_bytes(b"hi")
    (folder / "within.txt").symlink_to(folder / "call.txt")
    (folder / "leaves.txt").symlink_to(tmp_path / "outside.txt")
    (folder / "leaves").symlink_to(tmp_path / "other")
    (folder / "sub").mkdir()
    (folder / "latest").symlink_to(folder / "sub")  # whose files are read where they lie
    (folder / "lost.txt").symlink_to(folder / "gone.txt")
    (folder / "loop.txt").symlink_to(folder / "loop.txt")
    found = list(read_paths([folder]))
    assert [entry.fields.document_id for entry in found if isinstance(entry, IncomingDocument)] == [
        "call.txt",
        "within.txt",
    ]
    assert [(Path(entry.place).name, entry.message[:19]) for entry in found if isinstance(entry, Problem)] == [
        ("leaves", "a link that leaves "),
        ("leaves.txt", "a link that leaves "),
        ("loop.txt", "a link that leads n"),
        ("lost.txt", "a link that leads n"),
    ]


def test_nothing_to_read_is_a_problem_that_says_what_is_not_read(folder):
    (folder / "call.mp3").write_bytes(b"x")
    paths = [folder, folder / "gone", folder / "call.mp3"]
    assert list(read_paths(paths)) == [
        Problem(str(folder), NOTHING),
        Problem(str(folder / "gone"), "there is no such file or folder"),
        Problem(str(folder / "call.mp3"), "a recording or a picture: hand in its transcript"),
    ]


def test_what_is_no_file_is_a_problem_and_never_waited_for(folder):
    os.mkfifo(folder / "pipe.txt")
    long = folder / ("n" * 300 + ".txt")
    assert list(read_paths([folder / "pipe.txt", long])) == [
        Problem(str(folder / "pipe.txt"), "a pipe or a device: copy it to a file first"),
        Problem(str(long), "cannot be read: File name too long"),
    ]


@pytest.mark.parametrize("time", ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-12:00"])
def test_a_time_that_no_calendar_has_in_utc_is_a_problem(folder, time):
    assert lines(folder, row(occurred_at=time)) == [
        Problem(f"{folder}/calls.ndjson:1 occurred_at", "outside the years 1 to 9999 in UTC")
    ]


def test_a_bad_file_is_a_document_with_a_fault(folder, monkeypatch):
    monkeypatch.setattr(documents, "MAX_BYTES", 40)
    (folder / "1.vtt").write_bytes(b"")
    (folder / "2.vtt").write_bytes(b"%PDF-1.7")
    (folder / "3.vtt").write_bytes(b"x" * 41)
    found = list(read_paths([folder]))
    assert [document.fault.code for document in found] == ["empty_input", "unreadable_input", "unreadable_input"]
    assert found[2].source_sha256 == hashlib.sha256(b"x" * 41).hexdigest()
    assert found[2].fault.detail.startswith("larger than 64 MiB")


def test_names_that_no_id_can_hold_are_problems(folder):
    (folder / "plain.txt").write_bytes(b"hi")
    Path(os.fsdecode(os.fsencode(folder) + b"/bad\xff.txt")).write_bytes(b"hi")
    problem, document = read_paths([folder])
    assert problem.place == f"{folder}/bad\ufffd.txt document_id"
    assert document.fields.document_id == "plain.txt"
    (problem,) = read_paths([folder / "plain.txt"], id_prefix="x" * 512)
    assert problem == Problem(f"{folder}/plain.txt document_id", "String should have at most 512 characters")


def test_lines_end_at_line_feeds_only_and_blank_ones_are_ignored(folder):
    text = "one\u2028two\u0085three\u2029four"
    rows = [json.dumps(row(document_id=name, transcript=text), ensure_ascii=False).encode() for name in "ab"]
    found = lines(folder, b"\xef\xbb\xbf" + rows[0], b"", b"  \r", rows[1] + b"\r")
    assert [(document.fields.document_id, document.place[-2:]) for document in found] == [("a", ":1"), ("b", ":4")]
    assert found[0].transcript.turns[0].text == text


@pytest.mark.parametrize("name", ["007", "9007199254740993123", "x" * 500, "ключ 😀"])
def test_ids_are_strings_and_survive(folder, name):
    (document,) = lines(folder, row(document_id=name))
    assert document.fields.document_id == document.digest_fields["document_id"] == name


@pytest.mark.parametrize(
    ("bad", "place", "message"),
    [
        (row(document_id=7), " document_id", "must be a string: quote it"),
        (row(document_id="a\ud83d"), " document_id", "not Unicode: write it, or the file's name, in UTF-8"),
        (row(document_id=" \t"), " document_id", "holds nothing but blanks"),
        (row(document_id="a\x00"), " document_id", "holds a NUL character"),
        (row(document_id=""), " document_id", "String should have at least 1 character"),
        ({"document_id": "d", "transcript": "hi"}, " account_id", "Field required"),
        (row(colour="secret"), "", "an unknown field: leave it out"),
        (row(**{"Anna said": "secret"}), "", "an unknown field: leave it out"),
        (row(occurred_at="2026-05-01T10:00:00"), " occurred_at", "Input should have timezone info"),
        (row(transcript=None), "", "give either transcript or turns"),
        (row(turns=[{"text": "secret"}]), "", "give either transcript or turns"),
        (
            {"document_id": "d", "account_id": "a", "turns": [{"text": "x"}, {"speaker": "A"}]},
            " turns.1.text",
            "Field required",
        ),
        (b'{"document_id": NaN}', "", "NaN is not JSON"),
        (b'{"document_id": -Infinity}', "", "-Infinity is not JSON"),
        (b'{"document_id": "secret"', "", "not valid JSON at column 25"),
        (b'{"document_id": "secret\xff"}', "", "not UTF-8 at byte 24"),
        (b'{"document_id": ' + b"9" * 5000 + b"}", "", "not a document"),
        (b"[" * 100_000, "", "not a document"),
        (b'["secret"]', "", "must be an object"),
    ],
)
def test_a_wrong_line_is_a_problem_with_place_field_and_rule(folder, bad, place, message):
    before, problem, after = lines(folder, row(), bad, row())
    assert problem.place == f"{folder}/calls.ndjson:2{place}"
    assert problem.message.startswith(message)
    assert "secret" not in str(problem)
    assert before.transcript == after.transcript


def test_a_line_that_is_too_long_is_a_problem_and_the_next_is_read(folder, monkeypatch):
    monkeypatch.setattr(ndjson, "MAX_LINE", 200)
    found = lines(folder, row(transcript="x" * 1000), row(document_id="next"))
    assert isinstance(found[0], Problem)
    assert (found[1].fields.document_id, found[1].place[-2:]) == ("next", ":2")


def test_a_file_of_documents_brings_its_own_ids_and_accounts(folder):
    (folder / "calls.jsonl").write_text(json.dumps(row(occurred_at="2026-05-01T12:00:00+02:00", opportunity_id="o")))
    (document,) = read_paths([folder], account="other", id_prefix="nightly/")
    assert document.fields.model_dump(mode="json", exclude_unset=True) == {
        "document_id": "d",
        "account_id": "a",
        "occurred_at": "2026-05-01T10:00:00Z",
        "opportunity_id": "o",
    }


def test_half_a_surrogate_pair_is_hashed_as_given_and_read_as_a_replacement():
    text = "Anna: hi\nBen: great \ud83d\nAnna: fine"
    document = incoming(DocumentInput(**row(transcript=text)), "request")
    assert document.transcript.turns[1].text == "great \ufffd"
    assert document.source_sha256 == hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    assert document.warnings == (Warning(code="replaced_characters", place="line 2"),)


def test_turns_are_taken_as_they_are_and_hashed_canonically():
    given_turns = [{"text": " Anna: good morning ", "start": 1}, {"speaker": "B", "text": ""}]
    document = incoming(DocumentInput(document_id="d", account_id="a", turns=given_turns), "request")
    sha256 = hashlib.sha256(canonical(given_turns)).hexdigest()
    assert [turn.text for turn in document.transcript.turns] == [" Anna: good morning ", ""]
    assert document.digest_fields == {"document_id": "d", "account_id": "a", "turns": {"sha256": sha256}}
    assert document.source_sha256 == sha256


@pytest.mark.parametrize(
    "words", [{"transcript": ""}, {"transcript": " \n"}, {"turns": []}, {"turns": [{"text": " "}]}]
)
def test_a_document_without_a_word_is_a_fault_not_a_problem(words):
    document = incoming(DocumentInput(document_id="d", account_id="a", **words), "request")
    assert document.fault == Fault(
        code="empty_input", detail="nobody says a word: check the export, or leave the document out"
    )


@settings(deadline=None)
@given(st.text())
def test_any_transcript_a_request_can_hold_is_a_document(text):
    document = incoming(DocumentInput(document_id="d", account_id="a", transcript=text), "request")
    assert (document.transcript is None) == (document.fault is not None)


def test_reading_is_lazy(folder):
    (folder / "calls.ndjson").write_text(json.dumps(row()) + "\n{")
    found = read_paths([folder, folder / "gone"])
    assert isinstance(next(found), IncomingDocument)


def test_the_example_calls_are_thirteen_documents_of_three_accounts():
    found = list(read_paths([EXAMPLES]))
    assert len(found) == 13
    assert {document.fields.account_id for document in found} == {
        "karst-logistics",
        "marlow-bakery",
        "tidewater-clinics",
    }
    assert [document.fault.code for document in found if document.fault] == ["empty_input"]
    doubts = {warning.code for document in found for warning in document.warnings}
    assert doubts == {"speakers_generic"}  # "Speaker 1" and "Speaker 2" walk through a yard
    assert all(turn.speaker for document in found if document.transcript for turn in document.transcript.turns)


def test_a_document_with_more_turns_than_any_call_has_is_a_fault_and_not_a_problem():
    document = DocumentInput(document_id="d", account_id="a", turns=[{"text": "x"}] * (MAX_TURNS + 1))
    assert incoming(document, "here").fault.code == "unreadable_input"


@pytest.mark.parametrize(
    "line",
    [
        b'{"document_id": "d", "account_id": "a", "turns": [' + b"0," * 200_000 + b"0]}",
        b'{"document_id": 0,' + b",".join(b'"%d": 0' % number for number in range(200_000)) + b"}",
    ],
    ids=["turns", "fields"],
)
def test_a_line_with_a_fault_in_each_of_many_places_is_one_problem(folder, line):
    (problem,) = lines(folder, line)
    assert isinstance(problem, Problem)


@pytest.mark.parametrize("name", ["calls.ndjson", "calls.csv"])
def test_a_file_of_no_documents_is_told_of(folder, name):
    (folder / name).write_text("document_id,account_id,transcript\n" if name.endswith("csv") else "\n")
    (folder / "z.txt").write_text("Anna: We agreed on the price.")
    with capture_logs() as logs:
        found = list(read_paths([folder]))
    assert [document.fields.document_id for document in found] == ["z.txt"]
    assert [(entry["event"], entry["place"]) for entry in logs] == [("no_documents", f"{folder}/{name}")]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("events.jsonl", '{"event": "secret", "n": 1}\n{"event": "secret", "n": 2}\n'),
        ("event.jsonl", '{"event": "secret"}'),
        ("people.csv", "Name,Mail\nAnna,secret@example.com\n"),
        ("people.tsv", "Anna\tsecret@example.com\n"),
        ("people.csv", b"%PDF-1.7"),
    ],
)
def test_a_stray_table_or_list_is_a_row_and_stops_no_night(folder, name, content):
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    (folder / "z.txt").write_text("Anna: We agreed on the price.")
    stray, call = read_paths([folder])
    assert (stray.fields.document_id, stray.fault.code, call.fault) == (name, "unreadable_input", None)
    assert "secret" not in stray.fault.detail


def test_a_call_under_a_tables_name_is_that_call(folder):
    (folder / "call.csv").write_text("WEBVTT\n\n00:01.000 --> 00:02.000\n<v Anna>We agreed on the price.\n")
    (folder / "lines.jsonl").write_text("Anna: We agreed on the price.\nBen: In May.\nAnna: Yes.\nBen: Good.\n")
    assert [document.transcript.turns[0].speaker for document in read_paths([folder])] == ["Anna", "Anna"]


def test_a_name_that_is_not_utf_8_is_a_problem_that_says_so(folder):
    Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9.txt")).write_text("Anna: We agreed on the price.")
    (problem,) = read_paths([folder])
    assert problem == Problem(
        f"{folder}/caf\ufffd.txt document_id", "not Unicode: write it, or the file's name, in UTF-8"
    )
