"""Hostile files: refused or read, in time linear in their size and in bounded memory.

Word documents that blow up when they are unpacked are in test_transcripts_docx, archives in test_batch_archives.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

MEBI = 1024 * 1024
#: Of address space, on top of what the program has when it begins to read.
#: A line of documents may have 128 MiB, and is there twice while it is read.
FOR_LARGE_FILES = 400 * MEBI
FOR_FOUR_MEBIBYTES = 200 * MEBI
READER = Path(__file__).with_name("hostile_reading.py")


def outcomes(folder, extra):
    ran = subprocess.run(
        [sys.executable, str(READER), str(folder), str(extra)],
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
        cwd=READER.parents[2],
        env={"PYTHONPATH": str(READER.parents[2]), "PATH": ""},
    )
    assert ran.returncode == 0, ran.stderr[-2_000:]
    return dict(json.loads(line) for line in ran.stdout.splitlines() if line.startswith("["))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "account").mkdir()
    return tmp_path / "account"


def test_files_of_two_hundred_mebibytes_are_refused_before_they_are_decoded(folder):
    for name, unit in {
        "nul.vtt": None,
        "line.txt": b"a",
        "cues.srt": b"0:01 --> 0:02\nx\n\n",
        "deep.json": b"[",
    }.items():
        with (folder / name).open("wb") as file:
            if unit is None:
                file.truncate(200 * MEBI)
            for _ in range(0 if unit is None else 200):
                file.write(unit * (MEBI // len(unit) + 1))
    found = outcomes(folder, FOR_LARGE_FILES)
    assert set(found) == {"nul.vtt", "line.txt", "cues.srt", "deep.json"}
    assert set(found.values()) == {"larger than 64 MiB: submit one call per document"}


#: What a file is made of, again and again, and how its outcome begins.
UNITS = {
    "a": "1 turns",
    "é": "1 turns",
    "a b ": "1 turns",
    "<": "nobody says a word",
    "-->": "nobody says a word",
    "00:00:": "1 turns",
    "[": "JSON, but more than 2,000,000 values",
    '{"a":': "JSON, but nested too deeply",
    "\x00": "the file is not text",
    "\n": "nobody says a word",
    " \n": "nobody says a word",
    "x\n\n": "fewer than 12 characters",
    "A: b\n": "more than 200,000 turns",
    "0:1 --> 0:2\n": "more than 200,000 turns",
    "0:1 --> 0:2\nx\n\n": "more than 200,000 turns",
}


@pytest.mark.timeout(200)
def test_four_mebibytes_of_one_pattern_are_read_or_refused_in_bounded_memory(folder):
    for number, unit in enumerate(UNITS):
        (folder / f"{number:02}.txt").write_text(unit * (4 * MEBI // len(unit.encode())), encoding="utf-8")
    found = outcomes(folder, FOR_FOUR_MEBIBYTES)
    expected = {f"{number:02}.txt": outcome for number, outcome in enumerate(UNITS.values())}
    assert {name: outcome[: len(expected[name])] for name, outcome in found.items()} == expected


@pytest.mark.parametrize("head", ["WEBVTT\n\n", "WEBVTT\n\n0:01 --> 0:02\n"])
@pytest.mark.timeout(200)
def test_so_are_captions(folder, head):
    for number, unit in enumerate(UNITS):
        (folder / f"{number:02}.vtt").write_text(head + unit * (4 * MEBI // len(unit.encode())), encoding="utf-8")
    assert len(outcomes(folder, FOR_FOUR_MEBIBYTES)) == len(UNITS)


def test_nesting_deeper_than_the_stack_is_refused(folder):
    for name, text in {
        "lists.json": '[["' + "[" * 100_000,
        "objects.json": '{"a":' * 100_000,
        "both.json": '[{"a":' * 50_000,
    }.items():
        (folder / name).write_text(text, encoding="utf-8")
    found = outcomes(folder, FOR_FOUR_MEBIBYTES)
    assert {name: outcome.partition(":")[0] for name, outcome in found.items() if name != "lists.json"} == {
        "objects.json": "JSON, but nested too deeply",
        "both.json": "JSON, but nested too deeply",
    }
