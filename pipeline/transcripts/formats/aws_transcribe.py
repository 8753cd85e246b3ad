"""Amazon Transcribe's output: segments of audio in newer files, else the words of channels, of speakers or of nobody.

Source: docs.aws.amazon.com/transcribe, output examples of batch jobs. Times in seconds, as text; punctuation has none.
Who says a word stands in `speaker_labels`, joined by the word's start, or by its segment's.
"""

from collections.abc import Callable, Iterable, Iterator

from pipeline.domain.documents import Turn
from pipeline.transcripts import words
from pipeline.transcripts.source import Parsed, Source, bounded
from pipeline.transcripts.stretches import Stretches
from pipeline.transcripts.vendor import Label, Many, Seconds, Shape, Words, of_channels, read_as, turn

NAME = "aws_transcribe"

_SpeakerAt = Callable[[float | None], str | None]


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
    start_time: Seconds = None
    speaker_label: Label = None
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
    if any(segment.transcript for segment in results.audio_segments):
        return of_channels(map(_of_segment, results.audio_segments))
    if results.channel_labels and results.channel_labels.channels:
        return of_channels(each for channel in results.channel_labels.channels for each in _of_channel(channel))
    if results.items:
        return words.turns(_words(results.items, _speakers(results.speaker_labels)))
    return [turn(each.transcript, None, None, None) for each in results.transcripts if each.transcript]


def _of_segment(said: _AudioSegment) -> tuple[str, Turn]:
    return _on(said.channel_label, turn(said.transcript, said.speaker_label, said.start_time, said.end_time))


def _of_channel(channel: _Channel) -> Iterator[tuple[str, Turn]]:
    return (_on(channel.channel_label, said) for said in words.turns(_words(channel.items, _nobody)))


def _on(channel: str | None, said: Turn) -> tuple[str, Turn]:
    """With its channel, which is the speaker where no other one is known."""
    return channel or "", said if said.speaker else said.model_copy(update={"speaker": channel})


def _nobody(_start: float | None) -> None:
    return None


def _speakers(labels: _SpeakerLabels | None) -> _SpeakerAt:
    """Who says the word that begins at a time: as its own label says, else that of the segment it is in."""
    segments = labels.segments if labels else ()
    known = {
        item.start_time: item.speaker_label for segment in segments for item in segment.items if item.speaker_label
    }
    within = Stretches((each.start_time, each.speaker_label) for each in segments if each.speaker_label)
    return lambda start: known.get(start) or within.speaker_at(start)


def _words(items: Iterable[_Item], speaker_at: _SpeakerAt) -> Iterator[words.Word]:
    """Punctuation ends with its word, or no pause behind a sentence would be seen."""
    end = None
    for item in items:
        text = item.alternatives[0].content if item.alternatives else ""
        speaker = speaker_at(item.start_time) if item.start_time is not None else None
        end = end if item.end_time is None else item.end_time
        if text:
            glued = item.type == "punctuation"
            yield words.Word(text, item.speaker_label or speaker, item.start_time, end, glued=glued)
