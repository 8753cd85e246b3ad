"""Cues without voice tags -> turns: speakers named in the text (`Name: words`), and captions that scroll."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from pipeline.domain.documents import Turn
from pipeline.transcripts import labels
from pipeline.transcripts.cues import Cue

#: So many cues tell whether captions scroll.
_SAMPLE = 1_000


def labelled(found: Sequence[Cue], texts: Sequence[str], *, carry: bool) -> Iterator[Turn]:
    """One turn for each cue and its text without markup. `carry`: a cue without a name is the last speaker's."""
    named = [labels.start(text) for text in texts]
    speakers = labels.believed((name for name, _ in named), captions=True)
    last = None
    for cue, text, (name, begin) in zip(found, texts, named, strict=True):
        if name in speakers:
            last = name
            yield Turn(text=text[begin:].removeprefix("\n"), speaker=name, start=cue.start, end=cue.end)
        else:
            yield Turn(text=text, speaker=last if carry else None, start=cue.start, end=cue.end)


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
