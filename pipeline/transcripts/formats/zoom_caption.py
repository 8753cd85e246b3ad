"""The captions that a participant of a Zoom meeting saves: `[Dana Kim] 23:59:58`, then her words.

The times are the clock on the wall, with AM and PM where the computer's region has them. They become seconds from the
first line, and may pass midnight.
"""

import re
from collections.abc import Iterable, Iterator

from pipeline.domain.documents import Turn
from pipeline.transcripts.headed import Section, spoken
from pipeline.transcripts.source import Parsed, Source, bounded

NAME = "zoom_caption"

_DAY = 86_400.0
_HEADING_LINE = (
    r"^\[(?P<name>[^\n]{1,200})\][ \t]{1,4}(?P<time>[0-9]{1,2}:[0-9]{2}:[0-9]{2})(?:[ \u202f][AaPp][Mm])?[ \t]{0,8}$"
)
_HEADING = re.compile(_HEADING_LINE, re.MULTILINE)
_HALF_DAY = re.compile(
    r"^(?P<name>\[[^\n]{1,200}\][ \t]{1,4})(?P<hours>[0-9]{1,2})(?P<rest>:[0-9]{2}:[0-9]{2})"
    r"[ \u202f](?P<half>[AaPp])[Mm](?=[ \t]{0,8}$)",
    re.MULTILINE,
)
_FIRST = re.compile(rf"\s{{0,1000}}{_HEADING_LINE}", re.MULTILINE)


def recognises(source: Source) -> bool:
    """Whether the first line is a name in brackets and a time."""
    return _FIRST.match(source.text) is not None


def parse(source: Source) -> Parsed:
    """One turn for each heading."""
    text = _HALF_DAY.sub(_of_the_day, source.text)
    return Parsed(list(_from_the_first(bounded(spoken(text, _HEADING)))))


def _of_the_day(heading: re.Match[str]) -> str:
    """The same heading with the hours counted to 24."""
    hours = int(heading["hours"]) % 12 + 12 * (heading["half"] in "Pp")
    return f"{heading['name']}{hours:02}{heading['rest']}"


def _from_the_first(found: Iterable[Section]) -> Iterator[Turn]:
    """A clock that falls by more than half a day has passed midnight; a smaller fall is a line that came late."""
    first = last = midnight = 0.0
    for number, section in enumerate(found):
        if section.name is None or section.time is None:
            yield section._replace(time=None).turn()
            continue
        time = section.time
        if not number:
            first = time
        elif time < last - _DAY / 2:
            midnight += _DAY
        last = time
        yield section._replace(time=max(0.0, midnight + time - first)).turn()
