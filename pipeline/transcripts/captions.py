"""Cues without voice tags -> turns: speakers named in the text (`Name: words`), and captions that scroll."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise

from pipeline.domain.documents import Turn
from pipeline.transcripts import labels
from pipeline.transcripts.cues import Cue

#: How subtitles ("- Hi") and live captions (">> Hi") begin what another speaker says. A pause is "--", a number "-5".
_DASH = re.compile(rf"[ \t]{{0,8}}{labels.DASH}")
#: A text, the label that it begins with, and where the words after it begin.
_Part = tuple[str, tuple[str | None, int]]
#: So many cues tell whether captions scroll.
_SAMPLE = 1_000


def labelled(found: Sequence[Cue], texts: Sequence[str], *, carry: bool) -> Iterator[Turn]:
    """One turn for each speaker in a cue, from its text without markup; a cue without names is one turn.

    `carry`: a cue without a name is the last speaker's, but what stands behind a dash is somebody else's, nobody knows
    whose.
    """
    named = list(map(labels.start, texts))
    within = (name for text in texts if "\n" in text for name in _named_within(text))
    speakers = labels.believed(chain((name for name, _ in named), within), captions=True)
    last = None
    for cue, whole, label in zip(found, texts, named, strict=True):
        parts = _parts(whole, speakers) if "\n" in whole else ((whole, label),)
        for text, (name, begin) in parts:
            if name in speakers:
                last, words = name, text[begin:].removeprefix("\n")
            else:
                last, words = last if carry and not _DASH.match(text) else None, text
            yield Turn(text=words, speaker=last, start=cue.start, end=cue.end)


def _named_within(text: str) -> Iterator[str]:
    """The names that lines below a cue's first begin with; one without a name may be wrapped, so it proves nothing."""
    for line in text.split("\n")[1:]:
        name, _ = labels.start(line)
        if name and labels.may_name(name):
            yield name


def _parts(text: str, speakers: frozenset[str]) -> Iterator[_Part]:
    """The text of a cue in which several people may speak, cut where another begins; each with its label."""
    return ((part, labels.start(part)) for part in _cut(text, speakers))


def _cut(text: str, speakers: frozenset[str]) -> Iterator[str]:
    """The text, cut above each label and above the first of some lines behind dashes."""
    part: list[str] = []
    nobodys = False
    for line in text.split("\n"):
        is_named = labels.start(line)[0] in speakers
        is_dashed = not is_named and _DASH.match(line) is not None
        if part and (is_named or (is_dashed and not nobodys)):
            yield "\n".join(part)
            part = []
        nobodys = is_dashed or (nobodys and not is_named)
        part.append(line)
    yield "\n".join(part)


def scroll(texts: Sequence[str]) -> bool:
    """Whether most cues begin with the line that the one before ended with. Equal cues do not: people repeat words."""
    texts = texts[:_SAMPLE]
    shared = sum(
        above != below and above.rpartition("\n")[2] == below.partition("\n")[0] != ""
        for above, below in pairwise(texts)
    )
    return 2 * shared > len(texts)


def rolling(found: Sequence[Cue], texts: Sequence[str]) -> Iterator[Turn]:
    """One turn for each cue of captions that scroll, with the lines that were not there before."""
    last = None
    for cue, text in zip(found, texts, strict=True):
        fresh = []
        for line in text.split("\n"):
            if line.strip() and line != last:
                fresh.append(line)
                last = line
        yield Turn(text="\n".join(fresh), start=cue.start, end=cue.end)
