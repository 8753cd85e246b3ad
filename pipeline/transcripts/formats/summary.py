"""A summary that a model wrote of a meeting, saved alone: headings such as "Key takeaways" over lists; nobody speaks.

So export Zoom AI Companion, Otter, Gemini, Fathom and Copilot. Notes that somebody took, or a transcript that talks of
next steps, are not refused: it takes several of the headings, each alone on its line, several points, and no speaker.
"""

import re

from pipeline.transcripts import labels
from pipeline.transcripts.source import SUMMARY, Parsed, Source

NAME = "summary"

#: No model's summary is longer, in characters.
_LONGEST = 100_000
_HEADING = re.compile(
    r"^(?![ \t]{0,8}[-*\u2022\u2013][ \t])[^\w\n]{0,8}(?P<heading>"
    r"(?:(?:meeting|call|executive|general|quick) )?(?:summary|recap|overview)|meeting (?:notes|purpose)"
    r"|(?:key |main )?(?:takeaways|discussion points|points|decisions)|(?:suggested )?(?:action items|next steps)"
    r"|follow[- ]up tasks|topics(?: discussed)?|outline|details|open questions)[^\w\n]{0,6}$",
    re.IGNORECASE | re.MULTILINE,
)
_POINT = re.compile(r"^[ \t]{0,8}(?:[-*\u2022\u2013\u25e6\u25cf\u2610][ \t]|[0-9]{1,2}[.)][ \t])", re.MULTILINE)
_LINE = re.compile(rf"^[ \t]{{0,8}}(?=[^\s\-*\u2022\u2013]){labels.LABEL}", re.MULTILINE)
_HEADINGS_NEEDED = 2
_POINTS_NEEDED = 3


def recognises(source: Source) -> bool:
    """Whether several headings of a summary stand over points, and no line is somebody's."""
    text = source.text
    if len(text) > _LONGEST:
        return False
    headings = {match["heading"].lower() for match in _HEADING.finditer(text)}
    return (
        len(headings) >= _HEADINGS_NEEDED
        and sum(1 for _ in _POINT.finditer(text)) >= _POINTS_NEEDED
        and not labels.believed(map(labels.name_of, _LINE.finditer(text)))
    )


def parse(_source: Source) -> Parsed:
    """Nothing that was said."""
    return Parsed([], instead=SUMMARY)
