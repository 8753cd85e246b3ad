"""A meeting as Fathom's API and its webhooks give it: each line of its transcript is a turn with a start.

Source: developers.fathom.ai, meetings and recordings/{id}/transcript; `timestamp` is HH:MM:SS from the start.
"""

from typing import Any

from pipeline.domain.documents import Turn
from pipeline.transcripts import clock
from pipeline.transcripts.answers import only, speech
from pipeline.transcripts.omissions import unreadable_times
from pipeline.transcripts.source import Parsed, Source
from pipeline.transcripts.vendor import Label, Many, Shape, Words, read_as, turn

NAME = "fathom_api"


class _Speaker(Shape):
    display_name: Label = None


class _Line(Shape):
    speaker: _Speaker | None = None
    text: Words = ""
    timestamp: Words = ""


class _Meeting(Shape):
    transcript: Many[_Line] = ()
    default_summary: Any = None
    action_items: Any = None


def recognises(source: Source) -> bool:
    """Whether it is a meeting with lines of named speakers, or a list of such meetings."""
    return any(map(_is_meeting, (source.json, source.at("items", 0))))


def parse(source: Source) -> Parsed:
    """The lines of the meeting, without the summary and the action items that a model wrote."""
    value = source.json if _is_meeting(source.json) else only(source.json["items"])
    meeting, doubts = read_as(_Meeting, value, "Fathom")
    unread = sum(1 for line in meeting.transcript if line.timestamp and clock.seconds(line.timestamp) is None)
    doubts += unreadable_times(unread)
    written = {"default_summary": meeting.default_summary, "action_items": meeting.action_items}
    return speech(map(_turn, meeting.transcript), doubts, written)


def _is_meeting(value: Any) -> bool:
    if not isinstance(value, dict) or "transcript" not in value:
        return False
    lines = value["transcript"]
    if not lines:
        return "default_summary" in value
    first = lines[0] if isinstance(lines, list) else None
    return isinstance(first, dict) and isinstance(first.get("speaker"), dict) and "timestamp" in first


def _turn(line: _Line) -> Turn:
    return turn(line.text, line.speaker.display_name if line.speaker else None, clock.seconds(line.timestamp), None)
