"""Verify takes a good bundle and names whatever was done to a bad one."""

import errno
import hashlib
import json
import os

import pytest
from exports_samples import TRANSCRIPTS, cancelled_job, completed_job, freeze, successor_job

from exports.checks import findings as findings_module
from exports.checks import lines
from exports.checks import parse as parse_module
from exports.seal import ACTIONS, DIFF, MANIFEST, REPORT, SEAL, SEALED
from exports.verify import Verified, verify
from pipeline.domain.documents import Transcript
from pipeline.errors import BundleInvalid


@pytest.fixture
def bundle(tmp_path):
    freeze(tmp_path / "v1", completed_job())
    return tmp_path / "v1"


@pytest.fixture
def cancelled(tmp_path):
    freeze(tmp_path / "cancelled", cancelled_job())
    return tmp_path / "cancelled"


def problems(bundle, transcripts=None):
    with pytest.raises(BundleInvalid) as found:
        verify(bundle, transcripts)
    return [str(problem) for problem in found.value.problems]


def edit(bundle, name, change):
    """Change the parsed lines of a file in place, and make the seal's hash follow."""
    parsed = [json.loads(line) for line in (bundle / name).read_bytes().split(b"\n")[:-1]]
    change(parsed)
    text = "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in parsed)
    write(bundle, name, text.encode())


def write(bundle, name, data):
    (bundle / name).write_bytes(data)
    edit_seal(bundle, lambda seal: seal["files"].update({name: hashlib.sha256(data).hexdigest()}))


def edit_seal(bundle, change):
    seal = json.loads((bundle / SEAL).read_bytes())
    change(seal)
    (bundle / SEAL).write_text(json.dumps(seal))


def test_a_bundle_as_it_was_frozen_is_sound(bundle):
    assert verify(bundle) == Verified(rows=6, actions=6, quotes=0)


def test_every_quote_of_rows_and_actions_is_held_against_its_transcript(bundle):
    assert verify(bundle, TRANSCRIPTS) == Verified(rows=6, actions=6, quotes=10)


def test_a_cancelled_bundle_is_sound(cancelled):
    assert verify(cancelled, TRANSCRIPTS) == Verified(rows=2, actions=0, quotes=1)


@pytest.mark.parametrize("name", SEALED)
def test_one_byte_more_is_noticed_in(bundle, name):
    (bundle / name).write_bytes((bundle / name).read_bytes() + b" \n")
    assert f"{name}: its sha256 is not the one in the seal" in problems(bundle)


@pytest.mark.parametrize("name", [MANIFEST, ACTIONS, REPORT, SEAL])
def test_a_missing_file_is_named(bundle, name):
    (bundle / name).unlink()
    assert f"{name}: cannot be read, links are not followed: No such file or directory" in problems(bundle)


@pytest.mark.parametrize("name", [MANIFEST, ACTIONS, REPORT, SEAL])
def test_a_link_is_not_followed(bundle, name):
    (bundle / name).rename(bundle.parent / "elsewhere")
    (bundle / name).symlink_to(bundle.parent / "elsewhere")
    assert any(problem.startswith(f"{name}: cannot be read, links are not followed") for problem in problems(bundle))


@pytest.mark.parametrize("name", [MANIFEST, SEAL])
@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_a_folder_or_a_pipe_in_the_place_of_a_file_is_named(bundle, name, make):
    (bundle / name).unlink()
    make(bundle / name)
    assert f"{name}: is not a regular file" in problems(bundle)


def test_a_path_without_a_bundle_gives_problems_and_no_traceback(tmp_path):
    assert len(problems(tmp_path / "nowhere")) == 4
    (tmp_path / "file").touch()
    assert len(problems(tmp_path / "file")) == 4


def swap(first, second):
    def change(parsed):
        parsed[first], parsed[second] = parsed[second], parsed[first]

    return change


def put(place, **fields):
    return lambda parsed: parsed[place].update(fields)


def put_action(place, number, **fields):
    return lambda parsed: parsed[place]["actions"][number].update(fields)


def put_group(place, **fields):
    return lambda parsed: parsed[place]["group"].update(fields)


def put_quote(place, **fields):
    return lambda parsed: parsed[place]["evidence"][0].update(fields)


def drop(place):
    return lambda parsed: parsed.pop(place)


UNKNOWN_KEY = "cf1-" + "0" * 40

TAMPERED_ROWS = {
    "a missing row": (drop(2), "manifest.ndjson:3 (document zeta/first.txt): has position 3 where 2 was due"),
    "a missing last row": (drop(5), "manifest.ndjson: the seal says counts.total 6, the rows say 5"),
    "swapped rows": (swap(0, 1), "manifest.ndjson:1 (document acme/tuesday.txt): has position 1 where 0 was due"),
    "a document twice": (put(1, document_id="acme/monday.txt"), "its document has another row before"),
    "another job": (put(0, job_id="x"), "its job_id, export_id or export_version is not the seal's"),
    "another export": (put(0, export_id="x"), "its job_id, export_id or export_version is not the seal's"),
    "another version": (put(0, export_version=2), "its job_id, export_id or export_version is not the seal's"),
    "another state": (put(1, state="skipped"), "the seal says counts.failed 1, the rows say 0"),
    "an open state": (put(1, state="running"), "manifest.ndjson:2: state: Input should be 'succeeded', 'failed'"),
    "another code": (put(1, error_code="expired"), "its error codes are not those that the seal counts"),
    "no code": (put(1, error_code=None), "is failed without error_code"),
    "a success with a code": (put(0, error_code="expired"), "is succeeded with an error_code"),
    "a failure with actions": (
        lambda rows: rows[1].update(actions=rows[0]["actions"]),
        "manifest.ndjson:2 (document acme/tuesday.txt): has actions though it is failed",
    ),
    "another account": (put(0, account_id="other"), "names document acme/monday.txt, which is no row of its account"),
    "a field of the wrong type": (put(0, position="0"), "manifest.ndjson:1: position: Input should be a valid integer"),
    "a field too many": (put(0, unheard_of="x"), "manifest.ndjson:1: line: Extra inputs are not permitted"),
    "an infinite cost": (
        lambda rows: rows[0]["usage"].update(cost_usd=float("inf")),
        "manifest.ndjson:1: usage.cost_usd: Input should be a finite number",
    ),
    "a key that is not merged": (
        put_action(0, 1, action_key=UNKNOWN_KEY),
        f"the action key {UNKNOWN_KEY} is missing in actions.ndjson",
    ),
    "a key of another scheme": (put_action(0, 1, action_key="said"), "an action_key is not of the cf1 scheme"),
    "another disposition": (
        put_action(0, 1, disposition="review_only"),
        "actions.ndjson:2: has another disposition than in manifest.ndjson:1",
    ),
    "a proposed stage change": (
        put_action(3, 0, disposition="proposed"),
        "an update_stage is proposed: stages may only be reviewed",
    ),
    "a proposed action without evidence": (
        put_action(0, 1, evidence=[]),
        "an action without evidence is proposed: it may only be reviewed",
    ),
    "an action of another document": (
        put_action(0, 1, source_document_ids=["acme/private.txt"]),
        "an action does not name the row's document as its source",
    ),
    "a quote of another account": (
        lambda rows: rows[0]["actions"][1]["evidence"][0].update(document_id="zeta/first.txt"),
        "quotes document zeta/first.txt, which is no row of its account",
    ),
}


@pytest.mark.parametrize("tampering", TAMPERED_ROWS)
def test_verify_names_in_the_manifest(bundle, tampering):
    change, expected = TAMPERED_ROWS[tampering]
    edit(bundle, MANIFEST, change)
    found = problems(bundle)
    assert any(expected in problem for problem in found), found


MONDAY_MISSES = [{"document_id": "acme/tuesday.txt", "error_code": "provider_timeout"}]

TAMPERED_ACTIONS = {
    "a missing action": (drop(1), "actions.ndjson: the seal says rows.actions 6, the file has 5"),
    "an action twice": (lambda actions: actions.append(actions[0]), "actions.ndjson:7: the action key cf1-"),
    "another job": (put(0, job_id="x"), "actions.ndjson:1: its job_id or export_id is not the seal's"),
    "another export": (put(0, export_id="x"), "actions.ndjson:1: its job_id or export_id is not the seal's"),
    "another version of the schema": (put(0, schema_version=2), "actions.ndjson:1: schema_version: Input should be 1"),
    "an unknown source": (put(1, source_document_ids=["gone"]), "names document gone, which is no row of its account"),
    "no source": (put(1, source_document_ids=[]), "actions.ndjson:2: names no source document"),
    "a source of another account": (
        put(1, source_document_ids=["zeta/first.txt"]),
        "names document zeta/first.txt, which is no row of its account",
    ),
    "a source of another group": (
        put(1, source_document_ids=["acme/monday.txt", "acme/private.txt"]),
        "document acme/private.txt stands in two merge groups",
    ),
    "a failed source": (
        put(1, source_document_ids=["acme/tuesday.txt"]),
        "its source, document acme/tuesday.txt, is failed",
    ),
    "a quote of an unknown document": (
        put_quote(1, document_id="gone"),
        "actions.ndjson:2: names document gone, which is no row of its account",
    ),
    "a quote of the wrong length": (put_quote(1, end=500), "does not have that length"),
    "a group that is called complete": (put_group(0, complete=True), "is either complete or misses documents"),
    "a group that hides a gap": (
        put_group(1, complete=True, missing=[]),
        "actions.ndjson:2: its group says otherwise than in actions.ndjson:1 what is missing",
    ),
    "a gap that succeeded": (
        put_group(3, complete=False, missing=[{"document_id": "acme/private.txt", "error_code": "expired"}]),
        "its group misses document acme/private.txt for another reason than its row",
    ),
    "a gap twice": (put_group(0, missing=MONDAY_MISSES * 2), "its group misses a document twice"),
    "a gap of another group": (
        put_group(3, complete=False, missing=MONDAY_MISSES),
        "document acme/tuesday.txt stands in two merge groups",
    ),
    "an unknown gap": (
        put_group(3, complete=False, missing=[{"document_id": "gone", "error_code": "expired"}]),
        "names document gone, which is no row of its account",
    ),
    "an unknown successor": (
        put(4, superseded_by=UNKNOWN_KEY),
        f"actions.ndjson:5: superseded_by names the key {UNKNOWN_KEY}, which no action has",
    ),
    "a proposed stage change": (put(4, disposition="proposed"), "actions.ndjson:5: an update_stage is proposed"),
    "a proposed action without evidence": (put(1, evidence=[]), "actions.ndjson:2: an action without evidence is"),
    "an action of no row": (put(1, action_key=UNKNOWN_KEY), "actions.ndjson:2: no row has this action"),
}


@pytest.mark.parametrize("tampering", TAMPERED_ACTIONS)
def test_verify_names_in_the_merged_set(bundle, tampering):
    change, expected = TAMPERED_ACTIONS[tampering]
    edit(bundle, ACTIONS, change)
    found = problems(bundle)
    assert any(expected in problem for problem in found), found


TAMPERED_SEALS = {
    "another job": (lambda seal: seal.update(job_id="x"), "manifest.ndjson:1 (document acme/monday.txt): its job_id"),
    "another count": (lambda seal: seal["counts"].update(skipped=2), "the seal says counts.skipped 2, the rows say 1"),
    "other codes": (lambda seal: seal.update(error_codes={}), "its error codes are not those that the seal counts"),
    "an open job": (lambda seal: seal.update(job_state="running"), "seal.json: job_state: Input should be 'completed'"),
    "a missing field": (lambda seal: seal.pop("job_digest"), "seal.json: job_digest: Field required"),
    "a truth for a number": (lambda seal: seal.update(options={"x": True}), "seal.json: options.x"),
    "a missing hash": (lambda seal: seal["files"].pop(REPORT), "seal.json: files: must be exactly"),
    "a hash too many": (lambda seal: seal["files"].update({"../x": "0"}), "seal.json: files: must be exactly"),
    "another state": (lambda seal: seal.update(job_state="cancelled"), "a cancelled job has no merged actions"),
}


@pytest.mark.parametrize("tampering", TAMPERED_SEALS)
def test_verify_names_in_the_seal(bundle, tampering):
    change, expected = TAMPERED_SEALS[tampering]
    edit_seal(bundle, change)
    found = problems(bundle)
    assert any(expected in problem for problem in found), found


def test_a_proposed_action_in_a_cancelled_job_is_named(cancelled):
    edit(cancelled, MANIFEST, put_action(0, 0, disposition="proposed"))
    assert any("an action of a cancelled job is proposed" in problem for problem in problems(cancelled))


def test_a_quote_that_was_not_said_is_named_in_row_and_action(bundle):
    edit(bundle, MANIFEST, lambda rows: rows[0]["actions"][1]["evidence"][0].update(start=1, end=36))
    edit(bundle, ACTIONS, put_quote(1, turn=7))
    quote = "the quote of document acme/monday.txt"
    assert problems(bundle, TRANSCRIPTS) == [
        f"manifest.ndjson:1 (document acme/monday.txt): {quote} at turn 1, 1 to 36, does not stand there",
        f"actions.ndjson:2: {quote} at turn 7, 0 to 35, does not stand there",
    ]


def test_transcripts_that_were_changed_afterwards_are_noticed(bundle):
    changed = TRANSCRIPTS | {"acme/private.txt": Transcript(turns=())}
    assert len(problems(bundle, changed)) == 2


def test_a_transcript_that_was_not_handed_over_is_reported_once(bundle):
    given = {document_id: words for document_id, words in TRANSCRIPTS.items() if document_id != "acme/monday.txt"}
    assert problems(bundle, given) == [
        "manifest.ndjson:1 (document acme/monday.txt): no transcript was given for document acme/monday.txt"
    ]


def test_a_call_without_a_result_needs_no_transcript(bundle):
    given = {document_id: words for document_id, words in TRANSCRIPTS.items() if document_id != "acme/tuesday.txt"}
    verify(bundle, given)


def test_a_quote_of_a_document_that_comes_later_is_in_order(bundle):
    quote = json.loads((bundle / ACTIONS).read_bytes().split(b"\n")[1])["evidence"][0]
    edit(
        bundle,
        MANIFEST,
        lambda rows: rows[0]["actions"][1]["evidence"].append(quote | {"document_id": "acme/tuesday.txt"}),
    )
    verify(bundle)


JUNK = {
    "binary": b"\x00\xff\xfe\x80 junk\n",
    "a deep array": b"[" * 100_000 + b"]" * 100_000 + b"\n",
    "a deep object": b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"\n",
    "a huge number": b'{"position":' + b"9" * 100_000 + b"}\n",
    "no object": b"null\n",
    "an empty line": b"\n",
    "a number": b"1e999\n",
    "a lone surrogate": b'{"summary":"\\ud800"}\n',
    "words": b'{"summary":"the customer said this"}\n',
    "a byte order mark": b"\xef\xbb\xbf{}\n",
}


@pytest.mark.parametrize("junk", JUNK)
@pytest.mark.parametrize("name", [MANIFEST, ACTIONS, SEAL])
def test_junk_gives_problems_that_do_not_repeat_it(bundle, name, junk):
    (bundle / name).write_bytes(JUNK[junk])
    found = problems(bundle)
    assert any(problem.startswith(name) for problem in found)
    assert not any("the customer said" in problem for problem in found)
    assert max(map(len, found)) < 1_000


def test_a_key_that_stands_twice_in_one_object_is_named(bundle):
    data = (bundle / MANIFEST).read_bytes().replace(b'"position":0', b'"position":9,"position":0')
    write(bundle, MANIFEST, data)
    assert problems(bundle)[0] == "manifest.ndjson:1: an object has the same key twice"


def test_a_line_is_what_a_newline_ends_and_nothing_else(bundle):
    edit(bundle, MANIFEST, put(0, summary="a\u2028b\u2029c\x85d"))
    verify(bundle)


def test_a_file_cut_in_its_last_line_is_named(bundle):
    write(bundle, MANIFEST, (bundle / MANIFEST).read_bytes()[:-1])
    assert problems(bundle)[0] == "manifest.ndjson:6: does not end with a newline: the file is cut"


def test_a_line_longer_than_is_sane_is_skipped_and_the_next_one_checked(bundle, monkeypatch):
    monkeypatch.setattr(lines, "LONGEST_LINE", 2_000)
    edit(bundle, MANIFEST, lambda rows: (rows[1].update(summary="x" * 9_000), rows[2].update(position=7)))
    found = problems(bundle)
    assert found[0] == "manifest.ndjson:2: is longer than 16 MiB"
    assert "sha256" not in " ".join(found)
    assert any("manifest.ndjson:3" in problem for problem in found)


def test_a_hostile_bundle_gives_a_list_that_ends(bundle):
    write(bundle, MANIFEST, b"junk\n" * 5_000)
    found = problems(bundle)
    assert len(found) == findings_module.MOST + 1
    assert found[-1] == "bundle: the check stopped after 1000 problems"


def test_a_line_of_nothing_but_faults_is_told_in_one_sentence(bundle):
    write(bundle, MANIFEST, b'{"actions":[' + b"{}," * 50_000 + b"{}]}\n")
    assert problems(bundle)[0].startswith("manifest.ndjson:1: is nothing like it should be: ")


def test_a_line_of_a_million_parts_is_not_even_parsed(bundle):
    write(bundle, MANIFEST, b'{"actions":[' + b"{}," * 1_000_000 + b"{}]}\n")
    assert problems(bundle)[0] == "manifest.ndjson:1: has more parts than a line of a bundle can have"


def test_a_disk_that_fails_while_reading_is_a_problem_too(bundle, monkeypatch):
    def failing(*_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(lines, "open_regular", failing)
    assert "bundle: cannot be read: Input/output error" in problems(bundle)


def test_a_seal_of_many_megabytes_is_not_read(bundle):
    (bundle / SEAL).write_bytes(b" " * (2 << 20))
    assert problems(bundle) == ["seal.json: is larger than 1 MiB"]


@pytest.fixture
def successor(tmp_path):
    freeze(tmp_path / "v2", successor_job())
    return tmp_path / "v2"


def test_a_bundle_that_supersedes_another_is_sound(successor):
    assert verify(successor, TRANSCRIPTS) == Verified(rows=6, actions=7, quotes=14)


def test_a_diff_is_there_exactly_where_an_export_is_superseded(bundle, successor):
    (bundle / DIFF).write_bytes((successor / DIFF).read_bytes())
    assert problems(bundle) == ["diff.json: stands here though no export is superseded"]
    (successor / DIFF).unlink()
    assert "diff.json: cannot be read, links are not followed: No such file or directory" in problems(successor)
    edit_seal(successor, lambda seal: seal["files"].pop(DIFF))
    assert "seal.json: files: must be exactly manifest.ndjson, actions.ndjson, report.md, diff.json" in problems(
        successor
    )


def test_one_byte_more_is_noticed_in_the_diff(successor):
    (successor / DIFF).write_bytes((successor / DIFF).read_bytes() + b" \n")
    assert problems(successor) == [
        "diff.json:16: is a line too much",
        "diff.json: its sha256 is not the one in the seal",
    ]


MONDAY, TUESDAY = "cf1-480afeefba5b7341e4ccf2631e2427c9d84b6f58", "cf1-36d2dfa34d2d44bf96187d564c83749f0b3b3c79"
ENDED = b'"to":{"state":"succeeded","error_code":null}'
STANDS = b'"to":{"disposition":"review_only"'

TAMPERED_DIFFS = {
    "no beginning": (b'"rows":[', b'"lines":[', "diff.json:1: does not begin as a diff does"),
    "another export": (b'"export_id":"5', b'"export_id":"6', "its job_id, export_id or supersedes is not the seal's"),
    "another job superseded": (b'"supersedes":"5', b'"supersedes":"6', "its job_id, export_id or supersedes is not"),
    "a field too many": (b'"supersedes":', b'"more":1,"supersedes":', "diff.json:1: line: Extra inputs are not"),
    "another end": (
        ENDED,
        ENDED.replace(b"succeeded", b"failed"),
        "diff.json:2: document acme/tuesday.txt did not end so",
    ),
    "an unknown document": (b"acme/tuesday", b"acme/never", "diff.json:2: document acme/never.txt did not end so"),
    "another disposition": (
        STANDS,
        STANDS.replace(b"review_only", b"proposed"),
        "an action of document acme/monday.txt",
    ),
    "an unknown row": (b'"acme/monday', b'"acme/never', "names document acme/never.txt, which is no row"),
    "another reason": (
        STANDS + b',"reasons":["quote_not_found"]',
        STANDS + b',"reasons":["group_incomplete"]',
        "an action of document acme/monday.txt does not stand so",
    ),
    "another documents action": (
        b'"acme/monday.txt","action_key"',
        b'"zeta/first.txt","action_key"',
        "an action of document zeta/first.txt does not stand so",
    ),
    "from by the name that only we use": (b'"from":', b'"from_":', "diff.json:2: from: Field required"),
    "a document twice": (
        ENDED + b"}\n",
        ENDED
        + b'},\n{"document_id":"acme/tuesday.txt","from":{"state":"failed","error_code":"expired"},'
        + ENDED
        + b"}\n",
        "diff.json:3: the document acme/tuesday.txt was named before",
    ),
    "an action of a document whose result is another": (
        b'"acme/monday.txt","action_key"',
        b'"acme/tuesday.txt","action_key"',
        "document acme/tuesday.txt has another result: its actions are no news",
    ),
    "a key added and changed": (
        b'],"changed":[\n',
        f'],"changed":[\n"{TUESDAY}",\n'.encode(),
        f"diff.json:11: the action key {TUESDAY} was named before",
    ),
    "a key removed twice": (
        b'],"removed":[\n',
        f'],"removed":[\n"{UNKNOWN_KEY}",\n"{UNKNOWN_KEY}"\n'.encode(),
        f"diff.json:11: the action key {UNKNOWN_KEY} was named before",
    ),
    "a key of another scheme": (TUESDAY.encode(), b"said", "diff.json:8: is not an action key of the cf1 scheme"),
    "an added key that is not there": (TUESDAY.encode(), UNKNOWN_KEY.encode(), "is added and is not in the merged set"),
    "a removed key that is there": (
        b'],"removed":[\n',
        f'],"removed":[\n"{MONDAY}"\n'.encode(),
        f"the action key {MONDAY} is removed and stands in the merged set",
    ),
    "a replaced key that is there": (
        b'],"replaced":[\n',
        f'],"replaced":[\n{{"action_key":"{MONDAY}","by":"{TUESDAY}"}}\n'.encode(),
        f"the action key {MONDAY} was replaced wrongly: it stands in the merged set",
    ),
    "a key replaced by none": (
        b'],"replaced":[\n',
        f'],"replaced":[\n{{"action_key":"{UNKNOWN_KEY}","by":"{UNKNOWN_KEY}"}}\n'.encode(),
        f"the action key {UNKNOWN_KEY} was replaced wrongly: it is not in the merged set",
    ),
    "a section too few": (b'],"removed":[\n', b"", "diff.json:9: is a line too much"),
    "no comma between entries": (b"},\n", b"}\n", "diff.json:5: is a line too much"),
    "a comma before the end": (b"null}}\n]", b"null}},\n]", "diff.json:3: line: Invalid JSON"),
    "no end": (b"]}\n", b"", "diff.json: breaks off before its end"),
}


def test_an_action_stands_once_in_the_diff(successor):
    rows = (successor / DIFF).read_bytes().splitlines(keepends=True)
    write(successor, DIFF, b"".join([*rows[:4], *rows[3:]]))
    assert problems(successor) == [
        "diff.json:5: an action of document acme/monday.txt does not stand so, or was named before"
    ]


def test_a_diff_as_it_was_frozen_needs_no_second_look_for_keys_that_stand_twice(successor, monkeypatch):
    looked_at = []
    monkeypatch.setattr(parse_module, "_not_plain", looked_at.append)
    verify(successor)
    assert looked_at == [(successor / SEAL).read_bytes()]  # indented, for people


@pytest.mark.parametrize("tampering", TAMPERED_DIFFS)
def test_verify_names_in_the_diff(successor, tampering):
    old, new, expected = TAMPERED_DIFFS[tampering]
    data = (successor / DIFF).read_bytes()
    assert old in data
    write(successor, DIFF, data.replace(old, new, 1))
    found = problems(successor)
    assert any(expected in problem for problem in found), found
