"""Reading: WebVTT beside two caption libraries, and a folder of small files beside reading nothing but their bytes.

The libraries give cues with their text; Callfold gives turns with speakers, times in seconds and checked characters.
"""

import io
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import pysubs2
import webvtt

from benchmarks.bed import Bed
from benchmarks.captions import SPOKEN, faulty, zoom
from benchmarks.pairs import Comparison, Finding, at_least
from benchmarks.scale import Scale
from pipeline.errors import Problem
from pipeline.transcripts import collector
from pipeline.transcripts.batch import read_paths
from pipeline.transcripts.formats import vtt
from pipeline.transcripts.read import read
from pipeline.transcripts.source import Source

_FOLDERS: Final = 50


def reading(_bed: Bed, scale: Scale) -> Iterator[Finding]:
    """One library at a time, each in turn with Callfold: the large file, then the faults; then the folder."""
    text = zoom(scale.captions)
    for name, theirs in _LIBRARIES.items():
        for what, ours in (("cues to turns", _turns), ("everything that reading does", _ours)):
            compared = Comparison(f"{scale.captions / 1e6:g} MB of WebVTT, {what}", "MB/s", name, at_least(5))
            yield compared.run(scale.pairs, partial(_speed, ours, text), partial(_speed, theirs, text))
    for name, theirs in _LIBRARIES.items():
        compared = Comparison(f"cues right of {len(faulty()) * len(SPOKEN)} in faulty files", "cues", name, at_least(1))
        yield compared.of([(_right(_ours), _right(theirs))])
    with tempfile.TemporaryDirectory(prefix="callfold-bench-") as folder:
        paths = _write(Path(folder), scale.files)
        compared = Comparison(f"read {scale.files:,} small files", "files/s", "only their bytes", at_least(0.01))
        yield compared.run(
            scale.pairs,
            lambda: scale.files / _read(Path(folder), scale.files),
            lambda: scale.files / _only_bytes(paths),
        )


def _turns(text: str) -> list[str]:
    """The format's own reader, with the collector paused as `read` does: what the libraries do, and speakers."""
    with collector.paused():
        return [turn.text for turn in vtt.parse(Source(text.encode())).turns]


def _ours(text: str) -> list[str]:
    return [turn.text for turn in read(text.encode()).transcript.turns]


def _webvtt(text: str) -> list[str]:
    try:
        return [caption.text for caption in webvtt.from_buffer(io.StringIO(text))]
    except webvtt.errors.MalformedFileError:
        return []


def _pysubs2(text: str) -> list[str]:
    return [event.plaintext for event in pysubs2.SSAFile.from_string(text, format_="vtt")]


_LIBRARIES: Final[dict[str, Callable[[str], list[str]]]] = {"webvtt-py": _webvtt, "pysubs2": _pysubs2}


def _speed(reader: Callable[[str], list[str]], text: str) -> float:
    began = time.perf_counter()
    reader(text)
    return len(text) / 1e6 / (time.perf_counter() - began)


def _right(reader: Callable[[str], list[str]]) -> float:
    """How many cues of all faulty files are there with their words and nothing but their words."""
    return sum(words in found for found in map(reader, faulty().values()) for words in SPOKEN)


def _write(folder: Path, files: int) -> list[Path]:
    """Small files in turn of every kind below."""
    written = []
    for number in range(files):
        extension, contents = _KINDS[number % len(_KINDS)]
        path = folder / f"account-{number % _FOLDERS:02}" / f"call-{number:05}{extension}"
        path.parent.mkdir(exist_ok=True)
        path.write_text(contents, encoding="utf-8")
        written.append(path)
    return written


def _read(folder: Path, files: int) -> float:
    began = time.perf_counter()
    documents = 0
    for document in read_paths([folder]):
        if isinstance(document, Problem) or document.transcript is None:
            raise TypeError("a file was not read")
        documents += 1
    if documents != files:
        raise ValueError(f"{documents} of {files} files were read")
    return time.perf_counter() - began


def _only_bytes(paths: list[Path]) -> float:
    began = time.perf_counter()
    for path in paths:
        path.read_bytes()
    return time.perf_counter() - began


def _kinds(size: int) -> tuple[tuple[str, str], ...]:
    """Calls of about `size` characters as extension and contents, of which the contents decide how they are read."""
    captions = zoom(size)
    turns = [turn.model_dump() for turn in read(captions.encode()).transcript.turns]
    lines = "".join(f"{turn['speaker']}: {turn['text']}\n" for turn in turns)
    return (
        (".vtt", captions),
        (".srt", captions.replace(".", ",").removeprefix("WEBVTT\r\n\r\n")),
        (".txt", lines),
        (".txt", json.dumps({"results": {"channels": [], "utterances": [_utterance(turn) for turn in turns]}})),
    )


def _utterance(turn: dict[str, Any]) -> dict[str, Any]:
    return {"transcript": turn["text"], "speaker": 0, "start": turn["start"], "end": turn["end"]}


_KINDS: Final = _kinds(3_000)
