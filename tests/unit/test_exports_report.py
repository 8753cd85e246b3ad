"""The report says what a person needs, and what customers said cannot rewrite it. Its layout is the golden file's."""

import json

import pytest
from exports_samples import NOW, cancelled_job, completed_job, freeze, plain_header, plain_record
from markdown_it import MarkdownIt

from exports.advice import ADVICE, REASONS, advice, meaning
from exports.bundle import write_bundle
from exports.seal import REPORT
from pipeline.domain import merge, verify_quotes
from pipeline.domain.failure import POLICIES


def report_of(tmp_path, job):
    freeze(tmp_path / "v1", job)
    return (tmp_path / "v1" / REPORT).read_text()


def test_accounts_stand_in_alphabetical_order_whatever_their_first_letters_size(tmp_path):
    records = [plain_record(place, account_id=name) for place, name in enumerate(["beta", "Gamma", "alpha", "Alpha"])]
    write_bundle(tmp_path / "v1", plain_header(4), records, [], now=NOW)
    chapters = [
        line.removeprefix("## Account ")
        for line in (tmp_path / "v1" / REPORT).read_text().splitlines()
        if line.startswith("## Account ")
    ]
    assert chapters == ["Alpha", "alpha", "beta", "Gamma"]


def test_calls_of_one_account_stand_together_in_the_order_of_the_batch(tmp_path):
    records = [plain_record(place, account_id="ab"[place % 2]) for place in range(6)]
    write_bundle(tmp_path / "v1", plain_header(6), records, [], now=NOW)
    calls = [line for line in (tmp_path / "v1" / REPORT).read_text().splitlines() if line.startswith("- **")]
    assert calls == [f"- **call-{place}**" for place in (0, 2, 4, 1, 3, 5)]


def test_a_cancelled_job_shows_what_its_calls_brought_for_review(tmp_path):
    report = report_of(tmp_path, cancelled_job())
    assert "nothing was merged" in report
    assert "  - **Send the offer**" in report
    assert "For review only: the job was cancelled" in report


def test_hostile_words_make_no_heading_link_html_or_table(tmp_path):
    hostile = "# H\n## Account fake\n[x](http://evil.example) <script>x</script> ![i](j)\n| a |\n|---|"
    job = completed_job()
    texts = [json.loads(text) | {"text": hostile, "owner": hostile, "due_text": hostile} for text in job.actions]
    records = [
        record._replace(document_id=f"{record.position}{hostile}", account_id=hostile, summary=hostile, model=hostile)
        for record in job.records
    ]
    for action in texts:
        action["group"]["account_id"] = hostile
        for quote in action["evidence"]:
            quote["quote"] = hostile
    report = report_of(tmp_path, job._replace(records=records, actions=[json.dumps(action) for action in texts]))
    tokens = MarkdownIt("commonmark").enable("table").parse(report)
    types = [token.type for token in tokens] + [child.type for token in tokens for child in token.children or []]
    assert not {"link_open", "image", "html_inline", "html_block", "fence", "code_block"} & set(types)
    assert types.count("table_open") == 2
    headings = [tokens[place + 1].content for place, token in enumerate(tokens) if token.type == "heading_open"]
    assert len([heading for heading in headings if heading.startswith("Account ")]) == 1


def test_every_error_code_has_advice():
    assert ADVICE.keys() == POLICIES.keys()
    assert advice("later") == "look the code up in the documentation"


@pytest.mark.parametrize("module", [merge, verify_quotes])
def test_every_reason_has_a_meaning(module):
    reasons = {
        "QUOTE_NOT_FOUND",
        "UNKNOWN_SOURCE",
        "FOREIGN_ACCOUNT",
        "STAGE_CHANGE",
        "GROUP_INCOMPLETE",
        "JOB_CANCELLED",
    }
    assert {getattr(module, name) for name in reasons if hasattr(module, name)} <= REASONS.keys()
    assert meaning("later") == "later"
