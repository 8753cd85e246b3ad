"""The benchmarks run, at a size that says nothing about speed.

Only the two that start workers once in all; `python -m benchmarks --quick` runs every one.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.pairs import Comparison, at_least, at_most

REPOSITORY = Path(__file__).parents[2]


def test_ratios_are_taken_pair_by_pair():
    values = iter([10.0, 5.0, 30.0, 10.0, 8.0, 8.0])
    finding = Comparison("speed", "documents/s", "the bare thing", at_least(0.8)).run(
        3, lambda: next(values), lambda: next(values)
    )
    assert (finding.ratio.low, finding.ratio.middle, finding.ratio.high) == (1.0, 2.0, 3.0)
    assert finding.aim.is_met(0.8)
    assert not at_most(1.1).is_met(1.2)


@pytest.mark.slow
def test_a_quick_run_prints_one_line_for_each_comparison():
    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--quick", "--only", "submit", "freeze"],
        cwd=REPOSITORY,
        env={name: value for name, value in os.environ.items() if not name.endswith("_URL")},
        capture_output=True,
        text=True,
        check=False,
        timeout=220,
    )
    assert ran.returncode == 0, ran.stderr[-2_000:]
    rows = [line for line in ran.stdout.splitlines() if line.startswith("| ")]
    assert len(rows) == 2 + 2 + 1  # the head and its rule, then two of submit and one of freeze
