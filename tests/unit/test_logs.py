"""What reaches a terminal or a log store: one line per event, whatever is in its values."""

import subprocess
import sys

import pytest

LOGGED = r"""
import structlog
from pipeline import logs
from pipeline.settings import Settings

logs.configure(Settings(log_format="{log_format}"))
structlog.get_logger("tests").warning("process.settled", document_id="\x1b[31mred\nforged\u202e\ud800")
"""


@pytest.mark.parametrize("log_format", ["console", "json"])
def test_a_document_id_neither_steers_a_terminal_nor_forges_a_line(log_format):
    program = LOGGED.format(log_format=log_format)
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stderr
    assert shown.count("\n") == 1
    assert shown[:-1].isprintable()
    assert "red" in shown
