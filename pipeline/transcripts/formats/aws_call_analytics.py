"""The output of Amazon Transcribe Call Analytics and of Contact Lens: turns with the role of who speaks.

Source: docs.aws.amazon.com/transcribe, post-call analytics output. Times in milliseconds. What was redacted reads
`[PII]` and stays so.
"""

from typing import Any

from pydantic.alias_generators import to_pascal

from pipeline.domain.documents import Turn
from pipeline.transcripts.answers import speech
from pipeline.transcripts.source import CHAT, Parsed, Source
from pipeline.transcripts.vendor import Label, Many, Milliseconds, Shape, Words, read_as, turn

NAME = "aws_call_analytics"


class _Analytics(Shape, alias_generator=to_pascal):
    """Amazon writes BeginOffsetMillis."""


class _Turn(_Analytics):
    participant_role: Label = None
    participant_id: Label = None
    content: Words = ""
    begin_offset_millis: Milliseconds = None
    end_offset_millis: Milliseconds = None


class _Characteristics(_Analytics):
    contact_summary: Any = None


class _Output(_Analytics):
    transcript: Many[_Turn] = ()
    channel: str | None = None
    conversation_characteristics: _Characteristics | None = None


def recognises(source: Source) -> bool:
    """Whether its Transcript is of participants."""
    first = source.at("Transcript", 0)
    if isinstance(first, dict):
        return not first.keys().isdisjoint(("ParticipantRole", "ParticipantId"))
    return isinstance(source.at("Transcript"), list) and source.at("ConversationCharacteristics") is not None


def parse(source: Source) -> Parsed:
    """The turns, without the summary that a model wrote. Contact Lens writes chats in the same shape."""
    output, doubts = read_as(_Output, source.json, "Amazon Transcribe Call Analytics")
    if output.channel == "CHAT":
        return Parsed([], instead=CHAT)
    about = output.conversation_characteristics
    written = {"ContactSummary": about and about.contact_summary}
    return speech(map(_turn, output.transcript), doubts, written)


def _turn(said: _Turn) -> Turn:
    speaker = said.participant_role or said.participant_id
    return turn(said.content, speaker, said.begin_offset_millis, said.end_offset_millis)
