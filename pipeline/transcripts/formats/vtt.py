"""WebVTT: Zoom (`Name: text`), Teams (`<v Name>`), YouTube's rolling captions, and what other tools write.

Where the standard would drop a cue (comma decimals, times without leading zeros, garbage), it is kept: see `cues`.
"""

import re
from collections.abc import Iterator, Sequence

from pipeline.domain.documents import Turn
from pipeline.transcripts.captions import labelled
from pipeline.transcripts.cues import Cue, cues, doubts
from pipeline.transcripts.markup import unescaped, without_tags
from pipeline.transcripts.source import Parsed, Source, bounded

NAME = "vtt"

_SIGNATURE = r"\s{0,1000}(?:<!--.{0,1000}?-->\s{0,1000})?(?i:WEBVTT)(?![^\s\x00])"
_HEADER = re.compile(_SIGNATURE, re.DOTALL)
#: Blocks that are no speech: the header itself, comments and style sheets.
_COMMENT = re.compile(rf"{_SIGNATURE}|NOTE(?:\s|\Z)|(?:STYLE|REGION)[ \t]*(?:\n|\Z)", re.DOTALL)
_VOICE = re.compile(r"<v(?:\.[^\s<>]*)?(?:[ \t\n]([^<>]*))?>")
_WORD_STAMP = re.compile(r"<[0-9]{1,4}:[0-9]{2}:[0-9]{2}\.[0-9]{3}><c")
#: Old Teams exports name their voices by account ids.
_GUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?:@\S*)?", re.IGNORECASE)


def recognises(source: Source) -> bool:
    """Whether the first line that is not blank says WEBVTT."""
    return _HEADER.match(source.text) is not None


def parse(source: Source) -> Parsed:
    """One turn for each cue, or for each voice in it."""
    found = list(bounded(cues(source.text, is_comment)))
    return Parsed(list(bounded(_turns(found, source.text))), doubts(found, source.text))


def is_comment(block: str) -> bool:
    """Whether a block is the file's own: its header, a note, a style sheet."""
    return _COMMENT.match(block) is not None


def _turns(found: Sequence[Cue], text: str) -> Iterator[Turn]:
    if _WORD_STAMP.search(text):
        return _rolling(found)
    if _VOICE.search(text):
        return _voiced(found)
    return labelled(found, _spoken, carry=False)


def _spoken(text: str) -> str:
    return unescaped(without_tags(text))


def _rolling(found: Sequence[Cue]) -> Iterator[Turn]:
    """Captions that scroll: each cue begins with the line that the one before ended with."""
    last = None
    for cue in found:
        fresh = []
        for line in _spoken(cue.text).split("\n"):
            if line.strip() and line != last:
                fresh.append(line)
                last = line
        yield Turn(text="\n".join(fresh), start=cue.start, end=cue.end)


def _voiced(found: Sequence[Cue]) -> Iterator[Turn]:
    """Each voice is a turn of its own, words before the first voice too; a cue without a voice is nobody's."""
    names: dict[str, str] = {}
    for cue in found:
        unvoiced, *voiced = _VOICE.split(cue.text)
        if unvoiced.strip() or not voiced:
            yield Turn(text=_spoken(unvoiced), start=cue.start, end=cue.end)
        for name, words in zip(voiced[0::2], voiced[1::2], strict=True):
            speaker = _name(unescaped(name or ""), names)
            yield Turn(text=_spoken(words.removesuffix("\n")), speaker=speaker, start=cue.start, end=cue.end)


def _name(voice: str, names: dict[str, str]) -> str | None:
    """The voice's name; account ids become "Speaker 1", "Speaker 2" in the order in which they speak."""
    voice = voice.strip()
    if _GUID.fullmatch(voice):
        return names.setdefault(voice, f"Speaker {len(names) + 1}")
    return voice or None
