"""Subtitles of Aegisub and SubStation Alpha: `Dialogue: 0,0:00:01.00,0:00:03.48,Default,Dana Kim,0,0,0,,Good morning.`

The line `Format:` says which field is which; the last one is the words, which may hold commas.
Source: Aegisub's description of the format, and pysubs2, beside which the tests read it.
"""

import re
from collections.abc import Iterator, Sequence

from pipeline.domain.documents import Turn
from pipeline.transcripts.captions import labelled
from pipeline.transcripts.clock import seconds
from pipeline.transcripts.cues import Cue, doubts, stray, timed
from pipeline.transcripts.source import Parsed, Source, bounded

NAME = "ass"

_SECTION = r"\[(?P<section>Script Info|V4\+{0,2} Styles|Events|Fonts|Graphics|Aegisub [\w ]{1,40})\][ \t]{0,8}$"
_FIRST = re.compile(rf"\s{{0,1000}}{_SECTION}", re.IGNORECASE | re.MULTILINE)
_LINE = re.compile(
    rf"^(?:(?i:{_SECTION})"
    r"|(?:(?P<kind>Format|Dialogue|Comment|Picture|Sound|Movie|Command):[ \t]{0,8}|(?!;))(?P<values>[^\n]*\S))",
    re.MULTILINE,
)
_FIELDS = ("layer", "start", "end", "style", "name", "marginl", "marginr", "marginv", "effect", "text")
_OVERRIDE = re.compile(r"\{[^{}\n]*\}")
#: From here on the words are the strokes of a picture.
_DRAWING = re.compile(r"\{[^{}\n]*\\p[1-9]")
_BREAK = re.compile(r"\\[Nn]")


def recognises(source: Source) -> bool:
    """Whether it begins with one of the format's sections."""
    return _FIRST.match(source.text) is not None


def parse(source: Source) -> Parsed:
    """One turn for each line that is spoken; comments and pictures are not."""
    found = list(bounded(_cues(source.text)))
    return Parsed(list(bounded(_turns(found))), tuple(doubts(found, source.text)))


def _turns(found: Sequence[Cue]) -> Iterator[Turn]:
    if any(cue.id for cue in found):
        return (Turn(text=cue.text, speaker=cue.id or None, start=cue.start, end=cue.end) for cue in found)
    return labelled(found, [cue.text for cue in found], carry=False)


def _cues(text: str) -> Iterator[Cue]:
    """What is spoken; the name of the speaker is the cue's id. A line of no kind among the spoken ones may be, too."""
    fields: Sequence[str] = _FIELDS
    among_events = False
    for line in _LINE.finditer(text):
        kind, values = line["kind"], line["values"]
        if line["section"]:
            among_events = line["section"].lower() == "events"
        elif kind == "Dialogue" and not _DRAWING.search(values):
            yield _cue(dict(zip(fields, values.split(",", len(fields) - 1), strict=False)), line)
        elif kind == "Format" and among_events:
            fields = [field.strip().lower() for field in values.split(",")]
        elif kind is None and among_events:
            yield stray(values, line.start())


def _cue(values: dict[str, str], line: re.Match[str]) -> Cue:
    """The cue that a line's values give; a line that has fewer than its format says is all words."""
    words = _BREAK.sub("\n", _OVERRIDE.sub("", values.get("text", line["values"]))).replace("\\h", " ")
    start, end = (seconds(values.get(field, "")) for field in ("start", "end"))
    return timed(words, start, end, line.start(), (values.get("name") or values.get("actor") or "").strip())
