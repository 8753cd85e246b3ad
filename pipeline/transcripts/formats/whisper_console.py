"""What Whisper's commands print while they listen: `[00:00.000 --> 00:02.480]  Good morning.`

Source: openai/whisper; whisper.cpp, which writes the hours, too, and of two channels whose the words are:
`[00:00:00.000 --> 00:00:02.480]  (speaker 0) Good morning.`; faster-whisper, whose example prints seconds:
`[0.00s -> 2.48s] Good morning.`
"""

import re
from collections.abc import Iterator

from pipeline.transcripts.captions import labelled
from pipeline.transcripts.clock import CLOCK, seconds
from pipeline.transcripts.cues import Cue, doubts, timed
from pipeline.transcripts.omissions import left_out
from pipeline.transcripts.source import Parsed, Source, bounded

NAME = "whisper_console"

_SECONDS = r"[0-9]{1,6}\.[0-9]{1,3}"
_LINE = re.compile(
    rf"^\[(?:(?P<time>{CLOCK}) --> (?P<end>{CLOCK})|(?P<from>{_SECONDS})s -> (?P<to>{_SECONDS})s)\][ \t]{{0,8}}",
    re.MULTILINE,
)
_CHANNEL = re.compile(r"\A\(speaker ([01])\)")
_UNKNOWN = "(speaker ?)"
_INK = re.compile(r"^[^\n]*\S", re.MULTILINE)


def recognises(source: Source) -> bool:
    """Whether most lines begin with two times in brackets: somebody may have pasted one into notes."""
    printed = sum(1 for _ in _LINE.finditer(source.top))
    return printed > 0 and 2 * printed >= sum(1 for _ in _INK.finditer(source.top))


def parse(source: Source) -> Parsed:
    """One turn for each pair of times; what a command says before the first is no speech."""
    found = list(bounded(_cues(source.text)))
    turns = labelled(found, [cue.text for cue in found], carry=False)
    above = source.text[: found[0].offset]
    return Parsed(list(bounded(turns)), (*left_out("front_matter_left_out", above), *doubts(found, source.text)))


def _cues(text: str) -> Iterator[Cue]:
    last = None
    for line in _LINE.finditer(text):
        if last is not None:
            yield _cue(last, line.start())
        last = line
    if last is not None:
        yield _cue(last, len(text))


def _cue(line: re.Match[str], stop: int) -> Cue:
    words = _CHANNEL.sub(r"Speaker \1:", line.string[line.end() : stop].strip("\n").removeprefix(_UNKNOWN), count=1)
    start = seconds(line["time"]) if line["time"] else float(line["from"])
    end = seconds(line["end"]) if line["end"] else float(line["to"])
    return timed(words, start, end, line.start())
