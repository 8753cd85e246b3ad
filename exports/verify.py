"""Check a bundle offline, by what it holds alone: is it whole, does it agree with itself, were the quotes said?

Reads each file once and trusts none of it. Kept in memory: a few words for each document and each action key.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from exports.checks.difference import DiffCheck
from exports.checks.findings import Findings, TooManyFindings
from exports.checks.lines import read_lines
from exports.checks.merged import MergedCheck
from exports.checks.quotes import QuoteCheck
from exports.checks.rows import RowCheck
from exports.checks.seal import read_seal
from exports.seal import ACTIONS, DIFF, MANIFEST, REPORT, Seal
from pipeline.domain.documents import Transcript
from pipeline.errors import BundleInvalid


class Verified(NamedTuple):
    """What was checked: manifest rows, merged actions, and quotes (of both) held against a transcript."""

    rows: int
    actions: int
    quotes: int


def verify(bundle: Path, transcripts: Mapping[str, Transcript] | None = None) -> Verified:
    """Check the folder `bundle`; with `transcripts` by document id, also that every quote stands where it says.

    Raises BundleInvalid with every problem and its place (at most 1,000), in ids and places, never in quoted words.
    """
    findings = Findings()
    quotes = QuoteCheck(transcripts, findings)
    rows = merged = 0
    with suppress(TooManyFindings):
        try:
            rows, merged = _check(bundle, quotes, findings)
        except OSError as error:
            findings.add("bundle", f"cannot be read: {error.strerror}")
    if findings.problems:
        raise BundleInvalid(findings.problems)
    return Verified(rows, merged, quotes.checked)


def _check(bundle: Path, quotes: QuoteCheck, findings: Findings) -> tuple[int, int]:
    seal = read_seal(bundle, findings)
    rows = RowCheck(seal, quotes, findings)
    for number, line in read_lines(bundle / MANIFEST, findings, _sealed(seal, MANIFEST)):
        rows.take(number, line)
    rows.finish()
    merged = MergedCheck(seal, rows, quotes, findings)
    for number, line in read_lines(bundle / ACTIONS, findings, _sealed(seal, ACTIONS)):
        merged.take(number, line)
    merged.finish()
    for _ in read_lines(bundle / REPORT, findings, _sealed(seal, REPORT)):
        pass  # only its hash matters
    _check_diff(bundle, seal, rows, merged, findings)
    return rows.lines, merged.lines


def _check_diff(bundle: Path, seal: Seal | None, rows: RowCheck, merged: MergedCheck, findings: Findings) -> None:
    """It is there exactly where an export is superseded."""
    if seal is not None and seal.supersedes is not None:
        difference = DiffCheck(seal, rows, merged, findings)
        for number, line in read_lines(bundle / DIFF, findings, _sealed(seal, DIFF)):
            difference.take(number, line)
        difference.finish()
    elif os.path.lexists(bundle / DIFF):
        findings.add(DIFF, "stands here though no export is superseded")


def _sealed(seal: Seal | None, name: str) -> str | None:
    return None if seal is None else seal.files.get(name)
