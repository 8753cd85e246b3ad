"""Real conversations through the whole pipeline, where the shared data lies beside the repository."""

import json

import pytest
from crew import REPOSITORY

from pipeline.domain.documents import DocumentInput, Turn

CALLS = REPOSITORY.parent / "shared" / "data" / "calls"


@pytest.mark.skipif(not CALLS.is_dir(), reason="shared/data/calls is not beside the repository")
def test_every_shared_call_gives_one_row_with_verified_quotes(crew, open_desk):
    documents = [document for file in sorted(CALLS.glob("*.jsonl")) for document in read(file)]
    assert len(documents) > 300
    crew.work()
    desk = open_desk()
    bundle = desk.bundle(desk.submit(documents, profile="extractive"), seconds=180)
    assert not [row["document_id"] for row in bundle.rows if row["error_code"] == "internal_error"]
    assert {row["state"] for row in bundle.rows} == {"succeeded"}
    assert all(row["summary"] for row in bundle.rows)
    evidence = [quote for row in bundle.rows for action in row["actions"] for quote in action["evidence"]]
    assert bundle.quotes >= len(evidence) > 0


def read(file):
    for line in file.read_bytes().split(b"\n"):
        if line:
            shared = json.loads(line)
            yield DocumentInput(
                document_id=shared["id"], account_id=file.stem, turns=[turn(one) for one in shared["turns"]]
            )


def turn(shared):
    return Turn.model_validate({name: shared[name] for name in ("text", "speaker", "start", "end") if name in shared})
