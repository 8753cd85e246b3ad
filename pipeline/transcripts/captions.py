"""Cues whose speakers are named in the text: `Name: words`."""

from collections.abc import Callable, Iterator, Sequence

from pipeline.domain.documents import Turn
from pipeline.transcripts import labels
from pipeline.transcripts.cues import Cue


def labelled(found: Sequence[Cue], clean: Callable[[str], str], *, carry: bool) -> Iterator[Turn]:
    """One turn for each cue, its words through `clean`. `carry`: a cue without a name is the last speaker's."""
    texts = [clean(cue.text) for cue in found]
    speakers = labels.believed(map(labels.first, texts), captions=True)
    last = None
    for cue, text in zip(found, texts, strict=True):
        speaker, words = labels.split(text, speakers)
        last = speaker or (last if carry else None)
        yield Turn(text=words, speaker=last, start=cue.start, end=cue.end)
