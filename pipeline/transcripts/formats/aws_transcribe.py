"""Amazon Transcribe's output: segments of audio in newer files, else the words of channels, of speakers or of nobody.

Source: docs.aws.amazon.com/transcribe, output examples of batch jobs. Times in seconds, as text; punctuation has none.
Who says a word stands in `speaker_labels`, joined by the word's start.
"""

from collections.abc import Iterable, Iterator, Mapping

from pipeline.domain.documents import Turn
from pipeline.transcripts import words
from pipeline.transcripts.source import Parsed, Source, bounded
from pipeline.transcripts.vendor import Label, Many, Seconds, Shape, Words, in_order, read_as, turn

NAME = "aws_transcribe"


class _Alternative(Shape):
    content: Words = ""


class _Item(Shape):
    type: Words = ""
    start_time: Seconds = None
    end_time: Seconds = None
    speaker_label: Label = None
    alternatives: Many[_Alternative] = ()


class _Labelled(Shape):
    start_time: Seconds = None
    speaker_label: Label = None


class _SpeakerSegment(Shape):
    items: Many[_Labelled] = ()


class _SpeakerLabels(Shape):
    segments: Many[_SpeakerSegment] = ()


class _Channel(Shape):
    channel_label: Label = None
    items: Many[_Item] = ()


class _ChannelLabels(Shape):
    channels: Many[_Channel] = ()


class _AudioSegment(Shape):
    transcript: Words = ""
    start_time: Seconds = None
    end_time: Seconds = None
    speaker_label: Label = None
    channel_label: Label = None


class _Whole(Shape):
    transcript: Words = ""


class _Results(Shape):
    transcripts: Many[_Whole] = ()
    items: Many[_Item] = ()
    speaker_labels: _SpeakerLabels | None = None
    channel_labels: _ChannelLabels | None = None
    audio_segments: Many[_AudioSegment] = ()


class _Output(Shape):
    results: _Results


def recognises(source: Source) -> bool:
    """Whether its results have transcripts, and items or channels of them."""
    results = source.at("results")
    return (
        isinstance(results, dict)
        and isinstance(results.get("transcripts"), list)
        and not results.keys().isdisjoint(("items", "channel_labels"))
    )


def parse(source: Source) -> Parsed:
    """The turns in the order in which they begin."""
    output, doubts = read_as(_Output, source.json, "Amazon Transcribe")
    return Parsed(list(bounded(_turns(output.results))), doubts)


def _turns(results: _Results) -> Iterable[Turn]:
    if results.audio_segments:
        return in_order(_of_segments(results.audio_segments))
    if results.channel_labels:
        return in_order([each for channel in results.channel_labels.channels for each in _of_channel(channel)])
    if results.items:
        return words.turns(_words(results.items, _speakers(results.speaker_labels)))
    return [turn(each.transcript, None, None, None) for each in results.transcripts if each.transcript]


def _of_segments(segments: tuple[_AudioSegment, ...]) -> list[Turn]:
    """Diarization counts anew on each channel, so where there are several, they tell who speaks."""
    several = len({each.channel_label for each in segments}) > 1
    return [
        turn(
            each.transcript,
            each.channel_label if several else each.speaker_label or each.channel_label,
            each.start_time,
            each.end_time,
        )
        for each in segments
    ]


def _of_channel(channel: _Channel) -> Iterator[Turn]:
    return words.turns(word._replace(speaker=channel.channel_label) for word in _words(channel.items, {}))


def _speakers(labels: _SpeakerLabels | None) -> dict[float, str]:
    """Who begins a word at which time."""
    return {
        item.start_time: item.speaker_label
        for segment in (labels.segments if labels else ())
        for item in segment.items
        if item.start_time is not None and item.speaker_label
    }


def _words(items: Iterable[_Item], speakers: Mapping[float, str]) -> Iterator[words.Word]:
    """Punctuation ends with its word, or no pause behind a sentence would be seen."""
    end = None
    for item in items:
        text = item.alternatives[0].content if item.alternatives else ""
        speaker = speakers.get(item.start_time) if item.start_time is not None else None
        end = end if item.end_time is None else item.end_time
        if text:
            glued = item.type == "punctuation"
            yield words.Word(text, item.speaker_label or speaker, item.start_time, end, glued=glued)
