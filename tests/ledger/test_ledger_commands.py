"""What the commands say of a job, and how they end, where nothing is left to work on."""

import json

import pytest
from ledger_bench import work_off
from ledger_rows import submitted

from exports.freeze import freeze
from pipeline.stages.admit import admit
from pipeline.stages.amend import amend
from pipeline.stages.cancel import cancel
from pipeline.stages.reduce import reduce


@pytest.fixture
def ended(ledger, bench, folder):
    """Brings a job to its end: cancelled, or with its first document failed. Returns its id."""

    def end(job_id, how):
        if how == "cancelled":
            cancel(ledger, job_id)
        else:
            work_off(bench(how), admit(ledger, job_id).released[0])
            reduce(ledger, job_id)
        freeze(ledger, folder / "data" / "exports", job_id)
        return job_id

    return end


def test_an_edit_answers_with_all_that_holds_now_and_status_shows_it(call, ledger, settings):
    job_id = submitted(ledger, settings, 1)
    assert call("edit", job_id, "--concurrency", 3).stdout.startswith("edited: concurrency 3, deadline 2")
    assert " UTC, concurrency 3\n" in call("status", job_id).stdout
    shown = json.loads(call("status", job_id, "--json").stdout)
    assert (shown["concurrency"], shown["options"]) == (3, {})


@pytest.mark.parametrize(
    ("how", "strict", "code"), [("cancelled", [], 1), ("not_a_call", [], 0), ("not_a_call", ["--strict"], 4)]
)
def test_a_retry_that_came_before_says_so_and_ends_as_its_job_did(
    call, ledger, settings, ended, folder, how, strict, code
):
    job_id = ended(submitted(ledger, settings, 1), how)
    successor = ended(amend(ledger, settings, job_id).job_id, how)
    again = call("retry", job_id, "--out", folder / "out", *strict)
    assert again.stderr == f"callfold: the same retry came before: job {successor}, key retry-{job_id}-v2\n"
    assert f"job {successor}, export" in again.stdout
    assert again.returncode == code
