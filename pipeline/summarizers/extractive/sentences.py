"""A transcript as sentences, each a verbatim stretch of one turn.

`text` is the source's own characters, so that it can be quoted; `shown` is the same for people to read: without
the recogniser's markup (`<UNSURE>`, `{vocalsound}`, `[laughter]`) and with single spaces.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from pipeline.domain.documents import Transcript

#: Code points of a sentence; what is longer (no full stops, one huge line) is cut at a space where there is one.
LONGEST = 400
_SHORTEST_CUT = 200

_MARKUP = re.compile(r"</?[A-Za-z][A-Za-z_ -]{0,20}/?>|\{[a-z_ ]{1,20}\}|\[[a-zA-Z_ ]{1,20}\]")
_SPACE_BEFORE_MARK = re.compile(r"\s+([.,!?;:])(?=\s|$)")
_QUOTES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u00b4": "'"})
_FILLERS = re.compile(r",?\s*\b(?:u[hm]+|er+m?|(?:mm+-)?hmm+|mm+)\b,?\s*", re.IGNORECASE)
_PAUSE = re.compile(r"\s*(?:\.{2,}|\u2026)")
#: `i 'll`, `does n't`: some recognisers write words apart.
_TORN = re.compile(r" ('(?:ll|m|re|ve|s|d)|n't)\b", re.IGNORECASE)
#: A blank of several bytes between an initial and its full stop makes sentencex 1.0 panic.
_WIDE_BLANK = re.compile(r"[^\S\x00-\x7f]")
_STUTTER = re.compile(r"\b(\w+(?:'\w+)?)(?:,?\s+\1\b)+", re.IGNORECASE)


@dataclass(frozen=True)
class Sentence:
    """`turn` is the turn's index in the transcript; `whole` is False for a piece of a cut sentence."""

    turn: int
    speaker: str | None
    text: str
    whole: bool

    @cached_property
    def shown(self) -> str:
        """For people to read; never empty."""
        clean = " ".join(_MARKUP.sub(" ", self.text).split())
        return _SPACE_BEFORE_MARK.sub(r"\1", clean) or self.text

    @cached_property
    def plain(self) -> str:
        """For rules to match: as shown, with straight apostrophes, without `um`, `…`, stutters."""
        fluent = _PAUSE.sub(" ", _FILLERS.sub(" ", self.shown.translate(_QUOTES)))
        return _STUTTER.sub(r"\1", _TORN.sub(r"\1", " ".join(fluent.split())))


def split(transcript: Transcript) -> list[Sentence]:
    """Every sentence that is not blank, in call order."""
    return [
        Sentence(index, _label(turn.speaker), text, whole)
        for index, turn in enumerate(transcript.turns)
        for text, whole in _sentences(turn.text)
    ]


def _label(speaker: str | None) -> str | None:
    return " ".join(speaker.split())[:80] or None if speaker else None


def _sentences(text: str) -> Iterator[tuple[str, bool]]:
    from sentencex import segment  # type: ignore[import-untyped] # noqa: PLC0415 - untyped; only this summarizer needs it

    # English rules split on the marks of every script; a language of its own only adds abbreviations.
    start = 0
    for segmented in segment("en", _WIDE_BLANK.sub(" ", text)):
        sentence = text[start : start + len(segmented)].strip()
        start += len(segmented)
        if sentence:
            pieces = _cut(sentence)
            yield from ((piece, len(pieces) == 1) for piece in pieces)


def _cut(sentence: str) -> list[str]:
    pieces = []
    start = 0
    while len(sentence) - start > LONGEST:
        space = sentence.rfind(" ", start + _SHORTEST_CUT, start + LONGEST)
        end = space if space > 0 else start + LONGEST
        pieces.append(sentence[start:end].strip())
        start = end
    pieces.append(sentence[start:].strip())
    return [piece for piece in pieces if piece]
