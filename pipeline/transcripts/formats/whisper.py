"""Whisper and its kin (faster-whisper, whisper-timestamped, OpenAI's API, WhisperX): segments, times in seconds.

WhisperX gives words and segments a `speaker`, and leaves it out where it knows none: a word without one is its
segment's, a segment without one the last speaker's. Numerals have no times and take their neighbours'.
A segment is silence by the rule of Whisper's own transcribe.py: no_speech_prob > 0.6 and avg_logprob < -1.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from pipeline.domain.documents import Turn, Warning
from pipeline.errors import ItemFailure
from pipeline.transcripts.source import Parsed, Source, bounded
from pipeline.transcripts.vendor import Label, Many, Seconds, Shape, Words, read_as, turn

NAME = "whisper"

_NO_SPEECH = 0.6
_UNSURE = -1.0
#: How far behind the last word one is looked for in its segment's text.
_NEAR = 100
#: What a response without segments holds at most.
_KEYS = {"task", "language", "duration", "text", "segments", "words", "word_segments", "usage", "logprobs"}


class _Word(Shape):
    word: Words = ""
    #: whisper-timestamped's name for `word`.
    text: Words = ""
    start: Seconds = None
    end: Seconds = None
    speaker: Label = None


class _Segment(Shape):
    text: Words = ""
    start: Seconds = None
    end: Seconds = None
    speaker: Label = None
    words: Many[_Word] = ()
    no_speech_prob: float | None = None
    avg_logprob: float | None = None


class _Result(Shape):
    text: Words = ""
    segments: Many[_Segment] = ()
    words: Many[_Word] = ()


def recognises(source: Source) -> bool:
    """Whether there are segments of text with times, or none and nothing of others' beside them."""
    segments = source.at("segments")
    if isinstance(segments, list) and segments:
        first = segments[0]
        return isinstance(first, dict) and "text" in first and "start" in first
    return (segments == [] or isinstance(source.at("text"), str)) and _KEYS.issuperset(source.json)


def parse(source: Source) -> Parsed:
    """A turn for each segment, or for each speaker in it; raises ItemFailure(empty_input) where all is silence."""
    result, doubts = read_as(_Result, source.json, "Whisper")
    if not result.segments:
        start, end = (result.words[0].start, result.words[-1].end) if result.words else (None, None)
        return Parsed([turn(result.text, None, start, end)], doubts)
    silent = sum(map(_is_silence, result.segments))
    if silent == len(result.segments):
        raise ItemFailure("empty_input", "Whisper heard no speech in it: check the recording, or leave it out")
    if silent:
        doubts = (*doubts, Warning(code="maybe_silence", place=f"{silent} times"))
    return Parsed(list(bounded(_turns(result.segments))), doubts)


def _is_silence(segment: _Segment) -> bool:
    no_speech, unsure = segment.no_speech_prob, segment.avg_logprob
    return no_speech is not None and unsure is not None and no_speech > _NO_SPEECH and unsure < _UNSURE


def _turns(segments: Sequence[_Segment]) -> Iterator[Turn]:
    last = None
    for segment in segments:
        speakers = list(_speakers(segment, last))
        last = speakers[-1]
        if len(set(speakers)) == 1:
            yield turn(segment.text, last, segment.start, segment.end)
        else:
            yield from _split(segment, speakers)


def _speakers(segment: _Segment, last: str | None) -> Iterator[str | None]:
    """The speaker of each word, or of the one stretch that a segment without words is."""
    for word in segment.words or (_Word(),):
        last = word.speaker or segment.speaker or last
        yield last


def _split(segment: _Segment, speakers: Sequence[str | None]) -> Iterator[Turn]:
    """One turn for each run of words of one speaker, cut out of the segment's text."""
    starts = _filled(((word.start, word.end) for word in segment.words), segment.start)
    ends = _filled(((word.end, word.start) for word in reversed(segment.words)), segment.end)[::-1]
    offsets = [0, *_offsets(segment)[1:], len(segment.text)]
    for speaker, run in groupby(range(len(speakers)), key=speakers.__getitem__):
        places = list(run)
        text = segment.text[offsets[places[0]] : offsets[places[-1] + 1]]
        yield turn(text.strip(), speaker, starts[places[0]], ends[places[-1]])


def _filled(pairs: Iterable[tuple[float | None, float | None]], edge: float | None) -> list[float | None]:
    """The first time of each pair; where there is none, the nearer one of the pair before, at last the segment's."""
    times = []
    for near, far in pairs:
        times.append(edge if near is None else near)
        edge = times[-1] if far is None else far
    return times


def _offsets(segment: _Segment) -> list[int]:
    """Where each word begins in the segment's text; a word that is not in it begins where the last one ended."""
    offsets, end = [], 0
    for word in segment.words:
        text = (word.word or word.text).strip()
        place = segment.text.find(text, end, end + _NEAR + len(text))
        offsets.append(end if place < 0 else place)
        end = end if place < 0 else place + len(text)
    return offsets
