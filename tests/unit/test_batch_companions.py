"""Gong's two answers in one folder: calls know their speakers by ids, another file knows the names."""

import json
import zipfile

import pytest
from structlog.testing import capture_logs

from pipeline.transcripts.batch import read_paths

REP, BUYER = "6432345678555530067", "6432345678555530068"


def call(*texts):
    said = [
        {"speakerId": speaker, "sentences": [{"start": place * 1000, "end": place * 1000 + 900, "text": text}]}
        for place, (speaker, text) in enumerate(zip((REP, BUYER) * 9, texts, strict=False))
    ]
    return {"requestId": "r", "callTranscripts": [{"callId": "1", "transcript": said}]}


def extensive(**names):
    parties = [{"speakerId": {"rep": REP, "buyer": BUYER}[who], "name": name} for who, name in names.items()]
    return {"requestId": "r", "calls": [{"metaData": {"id": "1"}, "parties": parties}]}


TALK = call("We send the quote on Friday.", "Then we sign on Monday.")


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "rye").mkdir()
    return tmp_path / "rye"


def write(folder, **files):
    for name, value in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(exist_ok=True)
        path.with_suffix(".json").write_text(json.dumps(value, indent=1))


def speakers(found):
    return {
        document.fields.document_id: [turn.speaker for turn in document.transcript.turns]
        for document in found
        if document.transcript
    }


def test_names_come_from_the_file_beside_which_is_no_document(folder):
    write(folder, z_parties=extensive(rep="Mia Lang", buyer="Ben Ode"), call=TALK)
    with capture_logs() as logs:
        found = list(read_paths([folder]))
    assert speakers(found) == {"call.json": ["Mia Lang", "Ben Ode"]}
    assert [(entry["event"], entry["place"]) for entry in logs] == [
        ("companion_skipped", f"{folder}/z_parties.json"),
    ]


def test_several_files_of_names_serve_several_calls(folder):
    write(folder, a=extensive(rep="Mia Lang"), call1=TALK, call2=TALK, z=extensive(buyer="Ben Ode"))
    assert speakers(read_paths([folder])) == {
        "call1.json": ["Mia Lang", "Ben Ode"],
        "call2.json": ["Mia Lang", "Ben Ode"],
    }


def test_names_reach_no_further_than_their_folder(folder):
    write(folder, call=TALK, sub__parties=extensive(rep="Mia Lang"), other__call=TALK)
    found = list(read_paths([folder]))
    assert "Mia Lang" not in str([document.transcript for document in found])
    assert [(document.fields.document_id, document.fault and document.fault.code) for document in found] == [
        ("call.json", None),
        ("other/call.json", None),
        ("sub/parties.json", "not_a_call"),
    ]


def test_alone_such_a_file_is_a_row_that_is_no_call(folder):
    write(folder, parties=extensive(rep="Mia Lang"))
    (document,) = read_paths([folder])
    assert document.fault.code == "not_a_call"


def test_an_id_with_two_names_has_none(folder):
    write(folder, a=extensive(rep="Mia Lang"), b=extensive(rep="Eve Stone", buyer="Ben Ode"), call=TALK)
    first, second = speakers(read_paths([folder]))["call.json"]
    assert "Mia Lang" not in first
    assert "Eve Stone" not in first
    assert second == "Ben Ode"


def test_other_names_are_another_job_and_the_same_words_are_the_same_text(folder):
    write(folder, call=TALK, parties=extensive(rep="Mia Lang"))
    (before,) = read_paths([folder])
    write(folder, parties=extensive(rep="Eve Stone"))
    (after,) = read_paths([folder])
    assert before.digest_fields != after.digest_fields
    assert before.source_sha256 == after.source_sha256


def test_other_json_that_speaks_of_parties_is_read_as_it_is(folder):
    turns = [{"speaker": "Ann", "text": 'Which "parties" sign the contract today?'}] * 2
    write(folder, call=TALK, notes={"parties": [], "turns": turns}, parties=extensive(rep="Mia Lang"))
    found = {document.fields.document_id: document for document in read_paths([folder])}
    assert list(found) == ["call.json", "notes.json"]


@pytest.mark.parametrize("broken", [b'{"calls": [{"parties": ', b'{"calls": [{"parties": 7}]}'])
def test_a_broken_file_of_names_is_a_row_of_its_own(folder, broken):
    write(folder, call=TALK)
    (folder / "parties.json").write_bytes(broken)
    found = list(read_paths([folder]))
    assert [document.fault and document.fault.code for document in found][1] in {"unreadable_input", "not_a_call"}
    assert found[0].transcript is not None


def test_in_an_archive_it_is_the_same(folder, tmp_path):
    write(folder, z_parties=extensive(rep="Mia Lang", buyer="Ben Ode"), call=TALK)
    with zipfile.ZipFile(tmp_path / "rye.zip", "w") as made:
        for path in folder.iterdir():
            made.write(path, f"in/{path.name}")
    assert speakers(read_paths([tmp_path / "rye.zip"])) == {"rye.zip/in/call.json": ["Mia Lang", "Ben Ode"]}


def test_only_files_that_may_hold_names_are_read_twice(folder):
    write(folder, call=TALK, parties=extensive(rep="Mia Lang"))
    for number in range(3):
        (folder / f"{number}.txt").write_text('Ann: the "parties" agreed.')
    assert speakers(read_paths([folder]))["call.json"][0] == "Mia Lang"
