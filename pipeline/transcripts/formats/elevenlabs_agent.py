"""A conversation with an agent of ElevenLabs, from the API or a webhook (`data`): turns with a role and a second.

Source: elevenlabs.io/docs, conversations. A turn in which the agent only used a tool has a null message.
"""

from typing import Any

from pydantic import Field

from pipeline.transcripts.answers import speech
from pipeline.transcripts.source import Parsed, Source
from pipeline.transcripts.vendor import Label, Many, Seconds, Shape, read_as, turn

NAME = "elevenlabs_agent"


class _Turn(Shape):
    speaker: Label = Field(None, alias="role")
    message: str | None = None
    start: Seconds = Field(None, alias="time_in_call_secs")


class _Conversation(Shape):
    transcript: Many[_Turn] = ()


def recognises(source: Source) -> bool:
    """Whether a transcript's turns have a role and a message or a second."""
    first = source.at(*_path(source), "transcript", 0)
    return isinstance(first, dict) and "role" in first and ("message" in first or "time_in_call_secs" in first)


def parse(source: Source) -> Parsed:
    """The turns in which something is said."""
    path = _path(source)
    conversation, doubts = read_as(_Conversation, source.at(*path), "ElevenLabs")
    found = (
        turn(each.message, each.speaker, each.start, None)
        for each in conversation.transcript
        if each.message is not None
    )
    return speech(found, doubts, {"analysis.transcript_summary": source.at(*path, "analysis", "transcript_summary")})


def _path(source: Source) -> tuple[str, ...]:
    data: Any = source.at("data")
    return ("data",) if isinstance(data, dict) else ()
