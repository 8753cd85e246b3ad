"""What is printed: long names shortened, nothing that steers a terminal."""

import json

from pipeline.cli import results, screen


def test_a_name_cannot_steer_the_terminal(capsys):
    screen.line("calls/\x1b[2Jevil\r.txt")
    assert capsys.readouterr().out == "calls/\ufffd[2Jevil\ufffd.txt\n"


def test_a_table_shows_markup_as_it_is_and_shortens_in_the_middle(capsys):
    screen.table(("document",), [("[bold]call.txt",), ("a" * 100 + "z",), (None,)])
    _, first, second, third = capsys.readouterr().out.splitlines()
    assert first.strip() == "[bold]call.txt"
    assert second.strip() == "a" * 23 + "…" + "a" * 23 + "z"
    assert third.strip() == ""


def test_the_table_of_a_large_job_ends_with_how_many_more(capsys, tmp_path):
    rows = results.ROWS_SHOWN + 12
    row = {"account_id": "a", "state": "succeeded", "attempt_count": 1, "error_code": None, "actions": []}
    lines = [json.dumps({"document_id": f"call-{number}", **row}) for number in range(rows)]
    (tmp_path / "manifest.ndjson").write_text("".join(f"{line}\n" for line in lines))
    (tmp_path / "seal.json").write_text(json.dumps(_seal(rows)))
    results.show(tmp_path, as_json=False)
    shown = capsys.readouterr().out
    assert f"call-{results.ROWS_SHOWN - 1} " in shown
    assert f"call-{results.ROWS_SHOWN} " not in shown
    assert "… and 12 more" in shown


def _seal(rows):
    return {
        "job_id": "job",
        "idempotency_key": "key",
        "job_digest": "digest",
        "export_id": "export",
        "export_version": 1,
        "supersedes": None,
        "job_state": "completed",
        "options": {},
        "counts": {"total": rows, "succeeded": rows, "failed": 0, "skipped": 0},
        "error_codes": {},
        "rows": {"manifest": rows, "actions": 0},
        "files": {},
    }
