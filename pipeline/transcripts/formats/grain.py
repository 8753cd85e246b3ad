"""Grain's transcript as JSON: a list of segments, alone or inside the recording that they are of.

Source: developers.grain.com, transcript of a recording. Times in milliseconds.
"""

from typing import Any

from pipeline.domain.documents import Turn
from pipeline.transcripts.answers import speech
from pipeline.transcripts.source import Parsed, Source
from pipeline.transcripts.vendor import Label, Many, Milliseconds, Shape, Words, read_as, turn

NAME = "grain"


class _Segment(Shape):
    speaker: Label = None
    participant_id: Label = None
    start: Milliseconds = None
    end: Milliseconds = None
    text: Words = ""


class _Recording(Shape):
    transcript: Many[_Segment] = ()
    ai_summary: Any = None
    ai_action_items: Any = None


def recognises(source: Source) -> bool:
    """Whether it begins with a segment of a participant."""
    value = source.json
    first = source.at(0) if isinstance(value, list) else source.at("transcript", 0)
    return isinstance(first, dict) and "participant_id" in first and "text" in first


def parse(source: Source) -> Parsed:
    """The segments; who has no name there is told apart by an id."""
    value = {"transcript": source.json} if isinstance(source.json, list) else source.json
    recording, doubts = read_as(_Recording, value, "Grain")
    written = {"ai_summary": recording.ai_summary, "ai_action_items": recording.ai_action_items}
    return speech(map(_turn, recording.transcript), doubts, written)


def _turn(segment: _Segment) -> Turn:
    return turn(segment.text, segment.speaker or segment.participant_id, segment.start, segment.end)
