"""Archives: a zip is read as the folder that it holds, and never further than it may."""

import io
import json
import stat
import struct
import zipfile

import pytest
from structlog.testing import capture_logs

from pipeline.domain.documents import IncomingDocument
from pipeline.errors import Problem
from pipeline.transcripts.batch import archive, document, read_paths

CALL = b"Anna: We agreed on the price."


def packed(entries, **options):
    """The bytes of an archive with those names and contents."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", **options) as made:
        for name, content in entries.items():
            made.writestr(name, content)
    return data.getvalue()


@pytest.fixture
def given(tmp_path):
    """Write an archive into the folder `calls` and read it."""

    def read(data, name="night.zip"):
        (tmp_path / "calls").mkdir(exist_ok=True)
        (tmp_path / "calls" / name).write_bytes(data)
        return list(read_paths([tmp_path / "calls"]))

    return read


def problem(found):
    """The only thing found, which is a Problem: the end of its place, and its message."""
    (only,) = found
    assert isinstance(only, Problem)
    assert "Anna" not in str(only)
    return only.place.rpartition("/calls/")[2], only.message


def test_its_files_are_documents_named_by_their_paths_in_order(given):
    found = given(
        packed({"./b//z.txt": CALL, "top.vtt": CALL, "b/Umla\u0308ut.txt": CALL, "a.bin": b"\x00\x01\x02\x03\x04"})
    )
    assert [(document.fields.document_id, document.fields.account_id) for document in found] == [
        ("night.zip/a.bin", "night"),
        ("night.zip/b/Uml\u00e4ut.txt", "b"),
        ("night.zip/b/z.txt", "b"),
        ("night.zip/top.vtt", "night"),
    ]
    assert [document.fault and document.fault.code for document in found] == ["unreadable_input", None, None, None]


def test_it_is_known_by_its_content_and_read_beside_other_files(given, tmp_path):
    (tmp_path / "calls").mkdir()
    (tmp_path / "calls" / "plain.txt").write_bytes(CALL)
    found = given(packed({"a.txt": CALL}), "night.txt")
    assert [document.fields.document_id for document in found] == ["night.txt/a.txt", "plain.txt"]


def test_given_by_itself_it_has_the_same_documents(given, tmp_path):
    found = given(packed({"a.txt": CALL, "rye/b.txt": CALL}))
    assert list(read_paths([tmp_path / "calls" / "night.zip"])) == found


def test_files_of_documents_in_it_bring_their_own_ids(given):
    line = b'{"document_id": "007", "account_id": "acme", "transcript": "Anna: hi"}'
    found = given(packed({"calls.ndjson": line, "more.csv": b"document_id,transcript\n9007199254740993123,Anna: hi\n"}))
    assert [(document.fields.document_id, document.fields.account_id) for document in found] == [
        ("007", "acme"),
        ("9007199254740993123", "night"),
    ]
    assert [document.place.rpartition("/calls/")[2] for document in found] == [
        "night.zip/calls.ndjson:1",
        "night.zip/more.csv:2",
    ]


@pytest.mark.parametrize("part", ["[Content_Types].xml", "mimetype"])
def test_an_office_document_is_one_document(given, part):
    (document,) = given(packed({"first.xml": b"<a/>", part: b"<Types/>", "xl/sheet.xml": CALL}), "sheet.xlsx")
    assert document.fields.document_id == "sheet.xlsx"


@pytest.mark.parametrize("first", ["[Content_Types].xml", "word/numbering.xml"])
def test_a_broken_office_document_is_one_document_too(given, first):
    (document,) = given(packed({first: b"<a/>", "word/document.xml": CALL})[:-30], "call.docx")
    assert document.fault.code == "unreadable_input"


def test_junk_and_recordings_in_it_are_skipped_and_logged(given):
    names = ("__MACOSX/._a.txt", ".DS_Store", "b/~$c.docx", "call.m4a", "a.txt")
    with capture_logs() as logs:
        found = given(packed(dict.fromkeys(names, CALL)))
    assert [document.fields.document_id for document in found] == ["night.zip/a.txt"]
    assert [(entry["event"], entry.get("name", entry.get("extension"))) for entry in logs] == [
        ("junk_skipped", ".DS_Store"),
        ("junk_skipped", "__MACOSX"),
        ("junk_skipped", "b/~$c.docx"),
        ("media_skipped", ".m4a"),
    ]


@pytest.mark.parametrize("entries", [{}, {"sub/": b""}, {".hidden": CALL}])
def test_one_with_nothing_to_read_is_a_problem(given, entries):
    place, message = problem(given(packed(entries)))
    assert (place, message[:15]) == ("night.zip", "nothing to read")


@pytest.mark.parametrize("name", ["../out.txt", "a/../../out.txt", "/etc/out.txt", "C:\\out.txt", "..\\out.txt"])
def test_a_name_that_leads_out_is_a_problem(given, name):
    place, message = problem(given(packed({name: CALL})))
    assert place == f"night.zip/{name}".replace("\\", "/")
    assert message.startswith("a path that leaves the archive")


def test_a_name_with_two_dots_in_it_leads_nowhere(given):
    (document,) = given(packed({"a..b/c...txt": CALL}))
    assert document.fields.document_id == "night.zip/a..b/c...txt"


def test_a_link_is_a_problem(given):
    link = zipfile.ZipInfo("link.txt")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    assert problem(given(packed({link: b"/etc/passwd"}))) == (
        "night.zip/link.txt",
        "a link: put the file itself into the archive",
    )


def test_an_encrypted_file_is_a_problem(given):
    data = bytearray(packed({"a.txt": CALL}))
    data[data.index(b"PK\x01\x02") + 8] |= 1
    assert problem(given(bytes(data))) == ("night.zip/a.txt", "encrypted: unpack the archive first")


def test_an_archive_in_an_archive_is_a_problem(given):
    assert problem(given(packed({"in.zip": packed({"a.txt": CALL})}))) == (
        "night.zip/in.zip",
        "an archive that is not read: unpack it first",
    )


@pytest.mark.parametrize(
    "head",
    [
        b"\x1f\x8b\x08\x00",
        b"BZh91AY&SY",
        b"\xfd7zXZ\x00",
        b"\x28\xb5\x2f\xfd",
        b"7z\xbc\xaf\x27\x1c",
        b"Rar!\x1a\x07\x00",
        b"call.txt".ljust(257, b"\x00") + b"ustar\x0000",
    ],
)
def test_other_archives_are_problems(given, head):
    assert problem(given(head + bytes(300), "night.zip")) == (
        "night.zip",
        "an archive that is not read: unpack it first",
    )


@pytest.mark.parametrize("cut", [40, 100, -1, -20])
def test_a_cut_one_is_a_problem(given, cut):
    assert problem(given(packed({"a.txt": CALL * 3}, compression=zipfile.ZIP_DEFLATED)[:cut])) == (
        "night.zip",
        "a broken zip archive: make it again, or unpack it first",
    )


def test_damaged_content_is_a_problem_and_the_other_files_are_read(given):
    data = packed({"a.txt": b"Anna: first", "b.txt": b"Ben: second"})
    bad, good = given(data.replace(b"first", b"worst", 1))
    assert bad.place.endswith("night.zip/a.txt")
    assert bad.message.startswith("a broken zip archive")
    assert good.fields.document_id == "night.zip/b.txt"


def test_a_method_that_nobody_knows_is_a_problem(given):
    data = bytearray(packed({"a.txt": CALL}))
    data[8:10] = data[data.index(b"PK\x01\x02") + 10 : data.index(b"PK\x01\x02") + 12] = struct.pack("<H", 9)
    assert problem(given(bytes(data)))[1].startswith("a broken zip archive")


def test_sizes_are_counted_and_not_believed(given, monkeypatch):
    monkeypatch.setattr(archive, "MAX_BYTES", 1000)
    data = packed({"a.txt": CALL, "bomb.txt": b"x" * 100_000}, compression=zipfile.ZIP_DEFLATED)
    document, bomb = given(data)
    assert isinstance(document, IncomingDocument)
    assert bomb.message.startswith("unpacks to more than 100 times its size")
    declared = data.replace(struct.pack("<L", 100_000), struct.pack("<L", 10))
    assert given(declared)[1].message.startswith("a broken zip archive")


def test_one_that_is_too_large_to_hold_is_a_row_as_it_is_in_a_folder(given, tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "MAX_BYTES", len(CALL))
    monkeypatch.setattr(document, "MAX_BYTES", len(CALL))
    (tmp_path / "calls").mkdir()
    (tmp_path / "calls" / "large.txt").write_bytes(CALL * 9)
    large, small, packed_large = given(packed({"a.txt": CALL, "large.txt": CALL * 9}))
    assert (small.fault, packed_large.fault, packed_large.source_sha256) == (None, large.fault, large.source_sha256)


def test_all_files_together_are_bounded(given, monkeypatch):
    monkeypatch.setattr(archive, "MAX_TOTAL", len(CALL) * 2)
    found = given(packed({"a.txt": CALL, "b.txt": CALL, "c.txt": CALL}))
    assert [isinstance(entry, Problem) for entry in found] == [False, False, True]
    assert found[2].message.startswith("more than 0 GiB in one archive")


def test_the_number_of_files_is_bounded(given, monkeypatch):
    monkeypatch.setattr(archive, "MAX_ENTRIES", 2)
    assert problem(given(packed(dict.fromkeys(("a", "b", "c"), CALL)))) == (
        "night.zip",
        "more than 2 files in one archive: unpack it first, or make several",
    )


def test_a_directory_is_refused_before_it_is_read(given, monkeypatch):
    monkeypatch.setattr(archive, "MAX_DIRECTORY", 100)
    assert problem(given(packed(dict.fromkeys(("a" * 60, "b" * 60), CALL))))[1].startswith("more than 20,000 files")


def test_names_in_utf_8_that_do_not_say_so_are_read_so(given):
    data = packed({"u__.txt": CALL}).replace(b"u__.txt", "u\u00fc.txt".encode())
    (document,) = given(data)
    assert document.fields.document_id == "night.zip/u\u00fc.txt"


def test_a_file_without_a_name_is_a_problem_and_the_others_are_read(given):
    nameless = io.BytesIO()
    with zipfile.ZipFile(nameless, "w") as made:
        made.writestr(zipfile.ZipInfo("x"), CALL)
        made.writestr("b.txt", CALL)
        made.filelist[0].filename = ""
    first, second = given(nameless.getvalue())
    assert (first.message, second.fields.document_id) == (
        "a file without a name: make the archive again",
        "night.zip/b.txt",
    )


def test_a_file_that_is_read_twice_is_charged_once(given, monkeypatch):
    call = json.dumps({"callTranscripts": [], "pad": "x" * 1000}).encode()
    parties = json.dumps({"calls": [{"parties": []}], "pad": "x" * 1000}).encode()
    monkeypatch.setattr(archive, "MAX_TOTAL", len(call) + len(parties))
    assert not [each for each in given(packed({"a.json": call, "b.json": parties})) if isinstance(each, Problem)]


def test_files_that_overlap_are_refused(given):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as bomb:
        bomb.writestr("a.txt", CALL * 100)
        for number in range(3):
            again = zipfile.ZipInfo(f"{number}.txt")
            first = bomb.filelist[0]
            for name in ("header_offset", "compress_size", "file_size", "CRC", "compress_type"):
                setattr(again, name, getattr(first, name))
            bomb.filelist.append(again)
    assert problem(given(made.getvalue())) == ("night.zip", "a broken zip archive: make it again, or unpack it first")
