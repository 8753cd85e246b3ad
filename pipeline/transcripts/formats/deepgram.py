"""Deepgram's response: utterances where they were asked for, else paragraphs, else words.

Source: developers.deepgram.com/docs, pre-recorded audio; `results.channels[].alternatives[]`. Times in seconds.
"""

from collections.abc import Iterator
from typing import Any

from pipeline.domain.documents import Turn
from pipeline.transcripts import words
from pipeline.transcripts.answers import speech
from pipeline.transcripts.source import Parsed, Source
from pipeline.transcripts.vendor import Label, Many, Seconds, Shape, Words, of_channels, read_as, turn

NAME = "deepgram"


class _Word(Shape):
    word: Words = ""
    punctuated_word: str | None = None
    start: Seconds = None
    end: Seconds = None
    speaker: Label = None


class _Utterance(Shape):
    transcript: Words = ""
    start: Seconds = None
    end: Seconds = None
    speaker: Label = None
    channel: int = 0


class _Sentence(Shape):
    text: Words = ""


class _Paragraph(Shape):
    sentences: Many[_Sentence] = ()
    start: Seconds = None
    end: Seconds = None
    speaker: Label = None


class _Paragraphs(Shape):
    paragraphs: Many[_Paragraph] = ()


class _Alternative(Shape):
    transcript: Words = ""
    summaries: Any = None
    words: Many[_Word] = ()
    paragraphs: _Paragraphs | None = None


class _Channel(Shape):
    alternatives: Many[_Alternative] = ()


class _Summary(Shape):
    short: Any = None


class _Results(Shape):
    summary: _Summary | None = None
    channels: Many[_Channel] = ()
    utterances: Many[_Utterance] = ()


class _Response(Shape):
    results: _Results


def recognises(source: Source) -> bool:
    """Whether results have channels with alternatives."""
    channels = source.at("results", "channels")
    return isinstance(channels, list) and (
        not channels or source.at("results", "channels", 0, "alternatives") is not None
    )


def parse(source: Source) -> Parsed:
    """The most telling of what the response holds. Where two channels were recorded, these tell who speaks."""
    response, doubts = read_as(_Response, source.json, "Deepgram")
    turns = of_channels((f"Channel {number}", each) for number, each in _turns(response.results))
    return speech(turns, doubts, _written(response.results))


def _written(results: _Results) -> dict[str, Any]:
    """What a model wrote: of the whole, or, in older responses, of parts of each channel."""
    parts = [best.summaries for channel in results.channels for best in channel.alternatives[:1] if best.summaries]
    return {"results.summary": results.summary and results.summary.short, "summaries": parts}


def _turns(results: _Results) -> Iterator[tuple[int, Turn]]:
    """Each with the number of its channel."""
    for said in results.utterances:
        yield said.channel, turn(said.transcript, said.speaker, said.start, said.end)
    if not results.utterances:
        for number, channel in enumerate(results.channels):
            yield from ((number, each) for each in _of_channel(channel))


def _of_channel(channel: _Channel) -> Iterator[Turn]:
    best = channel.alternatives[0] if channel.alternatives else _Alternative()
    paragraphs = best.paragraphs.paragraphs if best.paragraphs else ()
    if paragraphs:
        for each in paragraphs:
            text = " ".join(sentence.text for sentence in each.sentences)
            yield turn(text, each.speaker, each.start, each.end)
    elif best.words:
        yield from words.turns(
            words.Word(each.punctuated_word or each.word, each.speaker, each.start, each.end) for each in best.words
        )
    elif best.transcript:
        yield turn(best.transcript, None, None, None)
