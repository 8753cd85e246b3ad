"""Fathom's text: title, `VIEW RECORDING`, a rule, then `0:42 - Dana Kim (Northwind)` and indented words below it.

Fathom writes its own notes into the turns, and goes on with the speech behind their link, on the same line:
`ACTION ITEM: Send the offer - WATCH: https://fathom.video/...  And so we agreed.`
"""

import re
from collections.abc import Iterable

from pipeline.domain.documents import Turn, Warning
from pipeline.transcripts.headed import TIME, Section, front, is_headed, names_come_back, spoken
from pipeline.transcripts.omissions import left_out
from pipeline.transcripts.source import SUMMARY, Parsed, Source, bounded

NAME = "fathom"

_HEADING = re.compile(rf"^ {{0,3}}@?(?P<time>{TIME}) -(?: (?!{TIME})(?P<name>[^\n]{{0,120}}))?$", re.MULTILINE)
_LINK = re.compile(r"^[^\n\w]{0,8}VIEW RECORDING - [0-9]", re.MULTILINE)
#: A label in capitals, and Fathom's link on the same line or on top of the next.
_NOTE = re.compile(
    r"^ {0,4}[A-Z]{3,20}(?: [A-Z]{3,20})?: [^\n]{0,1000}(?:\n {0,4})?- WATCH: https://\S{1,500} {0,2}\n?",
    re.MULTILINE,
)
_INDENT = re.compile(r"^ {2}", re.MULTILINE)


def recognises(source: Source) -> bool:
    """Whether it links to a recording, or has headings of times and names that come back, with words below them."""
    if _LINK.search(source.top):
        return True
    return names_come_back(source.text, _HEADING) and is_headed(source.text, _HEADING)


def parse(source: Source) -> Parsed:
    """One turn for each heading; without any, it is the summary that Fathom sends by mail."""
    found = list(bounded(spoken(source.text, _HEADING)))
    if not found:
        return Parsed([], instead=SUMMARY)
    top, title = front(source.text, _HEADING)
    warnings = (*left_out("front_matter_left_out", title), *_notes(found))
    return Parsed([*top, *map(_turn, found)], warnings)


def _turn(section: Section) -> Turn:
    text = _INDENT.sub("", _NOTE.sub("", section.text))
    return section._replace(text=text.strip("\n")).turn()


def _notes(found: Iterable[Section]) -> tuple[Warning, ...]:
    count = sum(len(_NOTE.findall(section.text)) for section in found)
    return (Warning(code="notes_left_out", place=f"{count} times"),) if count else ()
