"""What Bedrock Data Automation says of audio: its segments are turns; its summaries are left out.

Source: docs.aws.amazon.com/bedrock, standard and custom output for audio. Times in milliseconds. The custom output
holds only what a model concluded.
"""

from typing import Any

from pipeline.domain.documents import Turn
from pipeline.transcripts.answers import speech
from pipeline.transcripts.source import SUMMARY, Parsed, Source
from pipeline.transcripts.vendor import Label, Many, Milliseconds, Shape, Words, read_as, turn

NAME = "aws_bda"


class _Speaker(Shape):
    speaker_label: Label = None


class _Channel(Shape):
    channel_label: Label = None


class _Segment(Shape):
    text: Words = ""
    start_timestamp_millis: Milliseconds = None
    end_timestamp_millis: Milliseconds = None
    speaker: _Speaker | None = None
    channel: _Channel | None = None


class _Audio(Shape):
    summary: Any = None


class _Output(Shape):
    audio_segments: Many[_Segment] = ()
    audio: _Audio | None = None
    topics: Any = None


def recognises(source: Source) -> bool:
    """Whether it has segments of audio, or what a blueprint concluded."""
    return source.at("metadata") is not None and (
        isinstance(source.at("audio_segments"), list) or _is_conclusion(source)
    )


def parse(source: Source) -> Parsed:
    """The segments. The speaker's label comes before the channel's: diarization counts over all channels."""
    if _is_conclusion(source):
        return Parsed([], instead=SUMMARY)
    output, doubts = read_as(_Output, source.json, "Bedrock Data Automation")
    written = {"audio.summary": output.audio and output.audio.summary, "topics": output.topics}
    return speech(map(_turn, output.audio_segments), doubts, written)


def _is_conclusion(source: Source) -> bool:
    return source.at("matched_blueprint") is not None and source.at("inference_result") is not None


def _turn(segment: _Segment) -> Turn:
    speaker = segment.speaker.speaker_label if segment.speaker else None
    channel = segment.channel.channel_label if segment.channel else None
    return turn(segment.text, speaker or channel, segment.start_timestamp_millis, segment.end_timestamp_millis)
