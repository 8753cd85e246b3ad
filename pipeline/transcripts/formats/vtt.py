"""WebVTT: Zoom (`Name: text`), Teams (`<v Name>`), YouTube's rolling captions, and what other tools write.

Webex and others name the speaker in the line above the times, Microsoft Graph's `metadataContent` in JSON below them.

Where the standard would drop a cue (comma decimals, times without leading zeros, garbage), it is kept: see `cues`.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from pipeline.domain.documents import Turn
from pipeline.transcripts import labels
from pipeline.transcripts.captions import labelled, rolling, scroll
from pipeline.transcripts.clock import padded
from pipeline.transcripts.cues import Cue, cues, doubts
from pipeline.transcripts.json_text import value_of
from pipeline.transcripts.markup import unescaped, without_tags
from pipeline.transcripts.source import Parsed, Source, bounded

NAME = "vtt"

_SIGNATURE = r"\s{0,1000}(?:<!--.{0,1000}?-->\s{0,1000})?(?i:WEBVTT)(?![^\s\x00])"
_HEADER = re.compile(_SIGNATURE, re.DOTALL)
#: Blocks that are no speech: the header itself, comments and style sheets.
_COMMENT = re.compile(rf"{_SIGNATURE}|NOTE(?:\s|\Z)|(?:STYLE|REGION)[ \t]*(?:\n|\Z)", re.DOTALL)
_VOICE = re.compile(r"<v(?:\.[^\s<>]*)?(?:[ \t\n]([^<>]*))?>", re.IGNORECASE)
_WORD_STAMP = re.compile(r"<[0-9]{1,4}:[0-9]{2}:[0-9]{2}\.[0-9]{3}><c")
#: `1 "Anna Kim" (3603207424)`, as Webex writes it.
_QUOTED = re.compile(r'[0-9]{1,9} "([^"\n]{1,100})"(?: \([0-9]{1,20}\))?[ \t]*')
_METADATA = re.compile(r'\{"(?=[^\n]{0,4000}"spokenText")')


def recognises(source: Source) -> bool:
    """Whether the first line that is not blank says WEBVTT."""
    return _HEADER.match(source.text) is not None


def parse(source: Source) -> Parsed:
    """One turn for each cue, or for each voice in it."""
    text = padded(source.text)
    found = list(bounded(cues(text, is_comment)))
    return Parsed(list(bounded(_turns(found, text))), tuple(doubts(found, text)))


def is_comment(block: str) -> bool:
    """Whether a block is the file's own: its header, a note, a style sheet."""
    return _COMMENT.match(block) is not None


def _turns(found: Sequence[Cue], text: str) -> Iterator[Turn]:
    if found and _METADATA.match(found[0].text):
        return _of_metadata(found)
    if _VOICE.search(text):
        return _voiced(found)
    texts = [_spoken(cue.text) for cue in found]
    if _WORD_STAMP.search(text) or scroll(texts):
        return rolling(found, texts)
    if speakers := _named_above(found):
        return (
            Turn(text=text, speaker=speakers.get(cue.id), start=cue.start, end=cue.end)
            for cue, text in zip(found, texts, strict=True)
        )
    return labelled(found, texts, carry=False)


def _spoken(text: str) -> str:
    return unescaped(without_tags(text)) if "<" in text or "&" in text or "{" in text else text


def _named_above(found: Sequence[Cue]) -> dict[str, str]:
    """The speakers that ids name, by id: an id is only once in a file, so where some come back they are names."""
    ids = Counter(cue.id for cue in found if cue.id and not cue.id.isdecimal())
    if quoted := {each: match[1] for each in ids if (match := _QUOTED.fullmatch(each))}:
        return quoted
    return {name: name for name in labels.believed(ids.elements())} if len(ids) < ids.total() else {}


def _of_metadata(found: Sequence[Cue]) -> Iterator[Turn]:
    """Each cue an object with what was said and by whom."""
    for cue in found:
        said = value_of(cue.text) if _METADATA.match(cue.text) else {"spokenText": cue.text}
        speaker, words = said.get("speakerName"), said.get("spokenText")
        yield Turn(
            text=words if isinstance(words, str) else "",
            speaker=speaker if isinstance(speaker, str) and speaker.strip() else None,
            start=cue.start,
            end=cue.end,
        )


def _voiced(found: Sequence[Cue]) -> Iterator[Turn]:
    """Each voice is a turn of its own, words before the first voice too; a cue without a voice is nobody's."""
    for cue in found:
        unvoiced, *voiced = _VOICE.split(cue.text)
        if unvoiced.strip() or not voiced:
            yield Turn(text=_spoken(unvoiced), start=cue.start, end=cue.end)
        for name, words in zip(voiced[0::2], voiced[1::2], strict=True):
            speaker = unescaped(name or "").strip() or None
            yield Turn(text=_spoken(words.removesuffix("\n")), speaker=speaker, start=cue.start, end=cue.end)
