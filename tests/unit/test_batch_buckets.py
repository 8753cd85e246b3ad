"""Buckets: the batch is that of a folder with the same files, in whatever order and over how many pages they come."""

import io
import random
import sys
import zipfile
from pathlib import Path

import pytest
from s3_server import Bucket
from structlog.testing import capture_logs

from pipeline.domain.canonical import RequestDigest
from pipeline.errors import Problem
from pipeline.stages.submit import accepted
from pipeline.transcripts import batch
from pipeline.transcripts.batch import document, read_paths


def archive():
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", compression=zipfile.ZIP_DEFLATED) as made:
        for name in ("in/a.txt", "b.txt"):
            made.writestr(name, f"Anna: {name} " + random.Random(name).randbytes(300_000).hex())  # noqa: S311 - filler
    return data.getvalue()


FILES = {
    "May 1/a b.txt": b"Anna: first",
    "May 1/p%20q+r.txt": b"Anna: second",
    "May 1/\u00fc#?.VTT": b"WEBVTT\n\n00:01.000 --> 00:02.000\nAnna: third",
    "calls.csv": b"document_id,transcript\n007,Anna: hi\n",
    "calls.jsonl": b'{"document_id": "8", "account_id": "acme", "transcript": "Anna: hi"}\n',
    "empty.txt": b"",
    "long.txt": b"Anna: " + b"so " * 100_000,
    "night.zip": archive(),
    "top.txt": b"Anna: last",
}
JUNK = {".DS_Store": b"x", "May 1/._a.txt": b"x", "__MACOSX/a": b"x", "call.mp3": b"x"}


@pytest.fixture
def bucket(monkeypatch):
    with Bucket() as served:
        monkeypatch.setenv("AWS_ENDPOINT_URL", served.endpoint)
        monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "someone")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        yield served


@pytest.fixture
def folder(tmp_path):
    for name, data in (FILES | JUNK).items():
        path = tmp_path / "calls" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return tmp_path / "calls"


def fill(bucket, seed=0):
    """The same files below `calls/`, beside others, with the markers that consoles make for folders."""
    objects = {f"calls/{name}": data for name, data in (FILES | JUNK).items()}
    others = dict.fromkeys(("calls/", "calls/May 1/", "calls/nothing here/"), b"") | {"calls2/x.txt": b"Anna: no"}
    listed = list((objects | others).items())
    random.Random(seed).shuffle(listed)  # noqa: S311 - an order
    bucket.objects = dict(listed)


def told(found):
    """All that a job keeps of a batch."""
    documents, digest = list(accepted(found)), RequestDigest()
    for each, _ in documents:
        digest.add(each.digest_fields)
    return digest.finish({}), [(each.model_dump(exclude={"place"}), extra) for each, extra in documents]


def refusal(uri):
    """The only thing found, which is a Problem without a secret in it."""
    (problem,) = read_paths([uri])
    assert isinstance(problem, Problem)
    assert "secret" not in str(problem)
    return problem


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("uri", ["s3://night/calls", "s3://night/calls/"])
def test_the_batch_is_that_of_the_folder_in_whatever_order_it_is_listed(bucket, folder, uri, seed):
    fill(bucket, seed)
    assert told(read_paths([uri])) == told(read_paths([folder]))


def test_a_folder_given_as_a_uri_is_that_folder(folder):
    assert list(read_paths([folder.as_uri()])) == list(read_paths([folder]))
    (there,) = read_paths([(folder / "May 1" / "p%20q+r.txt").as_uri()])
    assert there.fields.document_id == "p%20q+r.txt"


def test_a_whole_bucket_is_a_folder_of_its_name(bucket):
    bucket.objects = {"b/call.txt": b"Anna: hi", "call.txt": b"Anna: hi"}
    found = list(read_paths(["s3://night"]))
    assert [(each.fields.document_id, each.fields.account_id, each.place) for each in found] == [
        ("b/call.txt", "b", "s3://night/b/call.txt"),
        ("call.txt", "night", "s3://night/call.txt"),
    ]


def test_one_object_is_named_by_its_name_alone(bucket):
    bucket.objects = {"rye/call.txt": b"Anna: hi", "rye/call.mp3": b""}
    (found,) = read_paths(["s3://night/rye/call.txt"], id_prefix="nightly/")
    assert (found.fields.document_id, found.fields.account_id) == ("nightly/call.txt", "rye")
    assert refusal("s3://night/rye/call.mp3").message == "a recording or a picture: hand in its transcript"


def test_junk_and_recordings_are_skipped_and_logged(bucket):
    fill(bucket)
    with capture_logs() as logs:
        list(read_paths(["s3://night/calls"]))
    skipped = [(entry["name"], entry["folder"]) for entry in logs if entry["event"] == "junk_skipped"]
    assert skipped == [(name, "s3://night/calls") for name in (".DS_Store", "May 1/._a.txt", "__MACOSX")]


def test_a_call_of_usual_length_takes_one_request(bucket):
    bucket.objects = {f"calls/{number}.txt": b"Anna: " + b"so " * 20_000 for number in range(5)}
    list(read_paths(["s3://night/calls"]))
    assert [key for _, key, _ in bucket.requests if key.endswith(".txt")] == [f"calls/{each}.txt" for each in range(5)]


def test_what_is_too_large_to_hold_is_hashed_and_not_held(bucket, folder, monkeypatch):
    monkeypatch.setattr(document, "MAX_BYTES", 100_000)
    bucket.objects = {"calls/long.txt": FILES["long.txt"]}
    (here,) = read_paths([folder / "long.txt"])
    (there,) = read_paths(["s3://night/calls"])
    assert (there.fault, there.source_sha256) == (here.fault, here.source_sha256)


def test_two_spellings_of_one_key_are_two_documents_of_one_id(bucket):
    bucket.objects = {"calls/\u00fc.txt": b"Anna: hi", "calls/u\u0308.txt": b"Anna: hi"}
    found = list(read_paths(["s3://night/calls"]))
    assert [each.fields.document_id for each in found] == ["\u00fc.txt", "\u00fc.txt"]


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("s3://dusk/calls", "there is no such bucket or object"),
        ("s3://night/calls", "nothing to read"),
        ("s3://night", "nothing to read"),
    ],
)
def test_where_there_is_nothing_it_is_said_so(bucket, uri, message):
    problem = refusal(uri)
    assert problem.place == uri
    assert problem.message.startswith(message)
    assert bucket.requests


@pytest.mark.parametrize(
    ("status", "message"), [(403, "access is denied"), (401, "access is denied"), (400, "the store")]
)
def test_a_bucket_that_refuses_is_a_problem_that_says_what_to_check(bucket, status, message):
    bucket.answer = status
    assert refusal("s3://night/calls").message.startswith(message)


@pytest.mark.usefixtures("bucket")
def test_a_bucket_that_cannot_be_reached_is_a_problem(monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setattr("pipeline.transcripts.batch.bucket._RETRIES", {"max_retries": 0})
    assert refusal("s3://night/calls").message.startswith("the store cannot be reached")


def test_an_object_that_changes_while_the_batch_is_read_is_a_problem(bucket):
    bucket.objects = {"calls/a.txt": b"Anna: hi", "calls/b.txt": b"Anna: hi"}
    found = read_paths(["s3://night/calls"])
    assert next(found).fields.document_id == "a.txt"
    bucket.tags["calls/b.txt"] = "2"
    assert list(found) == [Problem("s3://night/calls/b.txt", "it was changed while the batch was read: start again")]


def test_a_store_that_dies_is_asked_once_for_all_objects_that_are_left(bucket, monkeypatch):
    monkeypatch.setattr("pipeline.transcripts.batch.bucket._RETRIES", {"max_retries": 0})
    bucket.objects = {f"calls/{name}.txt": b"Anna: hi" for name in "abcd"}
    found = read_paths(["s3://night/calls"])
    next(found)
    bucket.answer, before = 503, len(bucket.requests)
    assert [each.message[:27] for each in found] == ["the store cannot be reached"] * 3
    assert len(bucket.requests) - before == 1


def test_a_list_of_too_many_objects_is_a_problem(bucket, monkeypatch):
    monkeypatch.setattr("pipeline.transcripts.batch.bucket.MAX_OBJECTS", 3)
    bucket.objects = {f"calls/{name}.txt": b"Anna: hi" for name in "abcd"}
    assert refusal("s3://night/calls").message == "more than 3 objects: give folders in it one by one"


def test_a_store_without_tags_is_read(bucket):
    bucket.tag = lambda _key: None
    bucket.objects = {"calls/a.txt": b"Anna: We agreed."}
    assert [each.fields.document_id for each in read_paths(["s3://night/calls"])] == ["a.txt"]


def test_an_object_that_goes_away_is_a_problem(bucket):
    bucket.objects = {"calls/a.txt": b"Anna: hi", "calls/b.txt": b"Anna: hi"}
    found = read_paths(["s3://night/calls"])
    next(found)
    del bucket.objects["calls/b.txt"]
    assert [each.message[:32] for each in found] == ["there is no such bucket or objec"]


@pytest.mark.parametrize("key", ["calls//a.txt", "calls/../a.txt"])
def test_a_key_that_no_folder_could_hold_is_a_problem(bucket, key):
    bucket.objects = {key: b"Anna: hi"}
    assert refusal("s3://night/calls").message == "an object has an empty part, . or .. in its name: rename it"


@pytest.mark.parametrize(
    ("uri", "place"),
    [
        ("s3://someone:secret@night/calls", "s3://"),
        ("s3://night/calls?token=secret", "s3://"),
        ("S3://night/calls#secret", "s3://"),
        ("gs://", "gs://"),
        ("az:///secret", "az://"),
        ("file://secret/calls", "file://"),
    ],
)
def test_a_uri_that_is_none_or_holds_a_secret_is_a_problem_without_it(uri, place):
    problem = refusal(uri)
    assert problem.place == place
    assert problem.message.startswith("write ")


def test_without_the_extra_it_is_said_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "obstore", None)
    monkeypatch.delitem(sys.modules, "pipeline.transcripts.batch.bucket", raising=False)
    monkeypatch.delattr(batch, "bucket", raising=False)
    assert refusal("s3://night/calls").message == "buckets need an extra: pip install 'callfold[remote]'"


def test_a_path_that_looks_a_little_like_a_uri_is_a_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("s3:").mkdir()
    Path("s3:", "call.txt").write_bytes(b"Anna: hi")
    (found,) = read_paths(["s3:/call.txt"])
    assert found.fields.document_id == "call.txt"
