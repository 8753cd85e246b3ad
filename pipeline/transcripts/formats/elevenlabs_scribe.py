"""ElevenLabs' Scribe: words, spacings and audio events with a speaker each; channels as several `transcripts`.

Source: elevenlabs.io/docs, speech to text. Times in seconds. An audio event such as "(laughs)" stays in the text.
"""

from collections.abc import Iterator

from pipeline.domain.documents import Turn
from pipeline.transcripts import words
from pipeline.transcripts.source import Parsed, Source
from pipeline.transcripts.vendor import Label, Many, Seconds, Shape, Words, of_channels, read_as, turn

NAME = "elevenlabs_scribe"

_TYPES = ("word", "spacing", "audio_event")


class _Word(Shape):
    text: Words = ""
    type: str = "word"
    start: Seconds = None
    end: Seconds = None
    speaker_id: Label = None


class _Channel(Shape):
    text: Words = ""
    words: Many[_Word] = ()


class _Transcript(Shape):
    transcripts: Many[_Channel] = ()


def recognises(source: Source) -> bool:
    """Whether words have Scribe's types, or a text without words has its language's probability."""
    first = source.at("transcripts", 0) or source.json
    if not isinstance(first, dict) or not isinstance(first.get("words"), list):
        return False
    word = first["words"][0] if first["words"] else None
    return word.get("type") in _TYPES if isinstance(word, dict) else "language_probability" in first


def parse(source: Source) -> Parsed:
    """The words by their speakers; where several channels were recorded, these tell who speaks."""
    value = source.json if source.at("transcripts") else {"transcripts": [source.json]}
    transcript, doubts = read_as(_Transcript, value, "ElevenLabs")
    channels = enumerate(transcript.transcripts)
    return Parsed(
        of_channels((f"Channel {number}", each) for number, said in channels for each in _turns(said)), doubts
    )


def _turns(channel: _Channel) -> Iterator[Turn]:
    spoken = [
        words.Word(word.text, word.speaker_id, word.start, word.end) for word in channel.words if word.type != "spacing"
    ]
    if not spoken:
        yield turn(channel.text, None, None, None)
    yield from words.turns(spoken)
