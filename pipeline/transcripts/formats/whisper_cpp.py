"""whisper.cpp's JSON: a transcription of segments, whose `offsets` count milliseconds.

Source: ggml-org/whisper.cpp, examples/cli, output_json. With two channels a segment has a `speaker`, "?" where the
channels are equally loud.
"""

from typing import Any

from pydantic import Field

from pipeline.transcripts.source import Parsed, Source
from pipeline.transcripts.vendor import Label, Many, Milliseconds, Shape, Words, read_as, turn

NAME = "whisper_cpp"


class _Offsets(Shape):
    start: Milliseconds = Field(default=None, validation_alias="from")
    end: Milliseconds = Field(default=None, validation_alias="to")


class _Segment(Shape):
    text: Words = ""
    offsets: _Offsets = _Offsets()
    speaker: Label = None


class _Output(Shape):
    transcription: Many[_Segment] = ()


def recognises(source: Source) -> bool:
    """Whether there is a transcription of segments with offsets, or an empty one beside the model."""
    found: Any = source.at("transcription")
    return isinstance(found, list) and (source.at("transcription", 0, "offsets") is not None or "model" in source.json)


def parse(source: Source) -> Parsed:
    """A turn for each segment."""
    output, doubts = read_as(_Output, source.json, "whisper.cpp")
    turns = [
        turn(each.text, None if each.speaker == "?" else each.speaker, each.offsets.start, each.offsets.end)
        for each in output.transcription
    ]
    return Parsed(turns, doubts)
