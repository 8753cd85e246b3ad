"""Microsoft's call-center-ai: messages of a caller and an assistant, each with the time at which it was kept.

Source: github.com/microsoft/call-center-ai. The claim, the reminders and the synthesis beside the messages are what a
model noted, not what anybody said.
"""

from pydantic import Field

from pipeline.domain.documents import Warning
from pipeline.transcripts.moments import Date, elapsed
from pipeline.transcripts.source import Parsed, Source
from pipeline.transcripts.vendor import Label, Many, Shape, Words, read_as, turn

NAME = "azure_messages"

_NOTES = ("claim", "reminders", "synthesis")


class _Message(Shape):
    speaker: Label = Field(None, alias="persona")
    text: Words = Field("", alias="content")
    created_at: Date = None


class _Call(Shape):
    messages: Many[_Message] = ()


def recognises(source: Source) -> bool:
    """Whether messages have a persona and content."""
    return source.at("messages", 0, "persona") is not None and isinstance(source.at("messages", 0, "content"), str)


def parse(source: Source) -> Parsed:
    """A turn for each message, times counted from the first."""
    call, doubts = read_as(_Call, source.json, "call-center-ai")
    starts, late = elapsed([message.created_at for message in call.messages], "created_at")
    found = [
        turn(message.text, message.speaker, start, None) for message, start in zip(call.messages, starts, strict=True)
    ]
    notes = tuple(Warning(code="notes_left_out", place=name) for name in _NOTES if source.at(name))
    return Parsed(found, (*doubts, *late, *notes))
