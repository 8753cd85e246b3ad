"""Deepgram's response: utterances where they were asked for, else paragraphs, else words.

Source: developers.deepgram.com/docs, pre-recorded audio; `results.channels[].alternatives[]`. Times in seconds.
"""

from collections.abc import Iterator

from pipeline.domain.documents import Turn
from pipeline.transcripts import words
from pipeline.transcripts.source import Parsed, Source
from pipeline.transcripts.vendor import Label, Many, Seconds, Shape, Words, in_order, read_as, turn

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
    words: Many[_Word] = ()
    paragraphs: _Paragraphs | None = None


class _Channel(Shape):
    alternatives: Many[_Alternative] = ()


class _Results(Shape):
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
    """The most telling of what the response holds. Where two channels were recorded, each is a speaker."""
    response, doubts = read_as(_Response, source.json, "Deepgram")
    results = response.results
    several = len(results.channels) > 1
    if results.utterances:
        found = [
            turn(each.transcript, _speaker(each.speaker, each.channel, several=several), each.start, each.end)
            for each in results.utterances
        ]
        return Parsed(found, doubts)
    found = [
        turn
        for number, channel in enumerate(results.channels)
        for turn in _of_channel(channel, number, several=several)
    ]
    return Parsed(in_order(found) if several else found, doubts)


def _of_channel(channel: _Channel, number: int, *, several: bool) -> Iterator[Turn]:
    best = channel.alternatives[0] if channel.alternatives else _Alternative()
    paragraphs = best.paragraphs.paragraphs if best.paragraphs else ()
    if paragraphs:
        for each in paragraphs:
            text = " ".join(sentence.text for sentence in each.sentences)
            yield turn(text, _speaker(each.speaker, number, several=several), each.start, each.end)
    elif best.words:
        yield from words.turns(
            words.Word(
                each.punctuated_word or each.word, _speaker(each.speaker, number, several=several), each.start, each.end
            )
            for each in best.words
        )
    elif best.transcript:
        yield turn(best.transcript, _speaker(None, number, several=several), None, None)


def _speaker(label: str | None, channel: int, *, several: bool) -> str | None:
    """Diarization counts anew on each channel, so a channel is told apart by its number."""
    return f"Channel {channel}" if several else label
