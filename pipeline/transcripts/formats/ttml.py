"""TTML, which is DFXP, too: subtitles in XML, `<p begin="00:00:01.000" end="00:00:03.480">Good morning.</p>`.

Times are clock times, with frames or without, or counted (`3.5s`, `3500ms`); what a `div` says is added to what stands
in it. No DTD is read, so that no entity can expand, and no tree is built.
Source: W3C, Timed Text Markup Language 2, sections 8 and 12.
"""

import re
from collections.abc import Mapping

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import ParseError, XMLParser

from pipeline.errors import ItemFailure
from pipeline.transcripts.captions import labelled
from pipeline.transcripts.clock import seconds
from pipeline.transcripts.cues import Cue, timed
from pipeline.transcripts.docx import MAX_ATTRIBUTES
from pipeline.transcripts.omissions import unreadable_times
from pipeline.transcripts.source import MAX_TURNS, Parsed, Source, bounded, too_many_turns

NAME = "ttml"

_FIRST = re.compile(
    r"\s{0,1000}(?:<\?xml[^<>]{0,1000}\?>\s{0,1000})?(?:<!--.{0,1000}?-->\s{0,1000}){0,3}<(?:\w{1,20}:)?tt[\s>]",
    re.DOTALL,
)
_CLOCK = re.compile(r"([0-9]{2,4}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?)(?::([0-9]{2,3}))?")
_COUNT = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)(h|m|s|ms|f|t)")
_RATE = re.compile(r"[1-9][0-9]{0,8}")
_MULTIPLIER = re.compile(r"([1-9][0-9]{0,5})[ :]([1-9][0-9]{0,5})")
_FRAMES_A_SECOND = 30
_BLANKS = re.compile(r"[ \t\n]+")
#: Two for each paragraph and for each line in it.
_MAX_TAGS = 10 * MAX_TURNS
#: To the next element: a text is a part of it.
_LONG_ELEMENT = re.compile(r"<[^<]{50000,}")


def recognises(source: Source) -> bool:
    """Whether the first element is `tt`."""
    return _FIRST.match(source.text) is not None


def parse(source: Source) -> Parsed:
    """One turn for each paragraph, or for each speaker in it.

    Raises ItemFailure(unreadable_input): broken, entities declared, more elements or attributes than any call has.
    """
    if source.text.count("<") > _MAX_TAGS:
        raise too_many_turns()
    if any(element[0].count("=") > MAX_ATTRIBUTES for element in _LONG_ELEMENT.finditer(source.text)):
        raise _unreadable()
    body = _Body()
    try:
        parser = XMLParser(target=body, forbid_dtd=True)
        parser.feed(source.text)
        parser.close()
    except (DefusedXmlException, ParseError, ValueError):
        raise _unreadable() from None
    found = list(bounded(body.cues))
    turns = labelled(found, [cue.text for cue in found], carry=False)
    return Parsed(list(bounded(turns)), unreadable_times(sum(cue.doubt is not None for cue in found)))


class _Body:
    """Takes the elements one after the other and keeps the paragraphs."""

    def __init__(self) -> None:
        self.cues: list[Cue] = []
        self._units = _units({})
        #: The starts of what is open around a paragraph, in seconds from the start of the recording.
        self._starts: list[float | None] = [0.0]
        self._paragraph: Mapping[str, str] = {}
        #: The lines of the open paragraph in pieces, or None between paragraphs.
        self._lines: list[list[str]] | None = None

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """An element opens."""
        name, given = _local(tag), {_local(key): value for key, value in attributes.items()}
        if name == "tt":
            self._units = _units(given)
        if self._lines is None:
            self._starts.append(_sum(self._starts[-1], self._seconds(given.get("begin", "0s"))))
            self._paragraph, self._lines = given, [[]] if name == "p" else None
        elif name == "br":
            self._lines.append([])

    def data(self, text: str) -> None:
        """Words, or blanks between elements."""
        if self._lines is not None:
            self._lines[-1].append(text)

    def end(self, tag: str) -> None:
        """An element closes; a span in a paragraph was never opened."""
        if self._lines is not None and _local(tag) == "p":
            text = "\n".join(_BLANKS.sub(" ", "".join(line)).strip(" ") for line in self._lines)
            self.cues.append(self._cue(text))
            self._lines = None
        if self._lines is None:
            self._starts.pop()

    def close(self) -> None:
        """The file ends."""

    def _cue(self, text: str) -> Cue:
        given = self._paragraph
        around, start = self._starts[-2:]
        if "end" in given:
            return timed(text, start, _sum(around, self._seconds(given["end"])))
        if "dur" in given:
            return timed(text, start, _sum(start, self._seconds(given["dur"])))
        if start is None:
            return timed(text, None, None)
        return Cue(text, start if start or "begin" in given else None)

    def _seconds(self, time: str) -> float | None:
        if clock := _CLOCK.fullmatch(time):
            whole = seconds(clock[1])
            return None if whole is None else whole + float(clock[2] or 0) * self._units["f"]
        if count := _COUNT.fullmatch(time):
            return float(count[1]) * self._units[count[2]]
        return None


def _unreadable() -> ItemFailure:
    return ItemFailure(
        "unreadable_input", "TTML that is broken or declares entities: export it again, or as .vtt or .srt"
    )


def _units(given: Mapping[str, str]) -> dict[str, float]:
    """The seconds of each unit; frames and ticks are as long as the file says."""
    rate = float(given["frameRate"]) if _RATE.fullmatch(given.get("frameRate", "")) else None
    multiplier = _MULTIPLIER.fullmatch(given.get("frameRateMultiplier", ""))
    frames = (rate or _FRAMES_A_SECOND) * (float(multiplier[1]) / float(multiplier[2]) if multiplier else 1)
    ticks = float(given["tickRate"]) if _RATE.fullmatch(given.get("tickRate", "")) else frames if rate else 1
    return {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001, "f": 1 / frames, "t": 1 / ticks}


def _sum(begin: float | None, more: float | None) -> float | None:
    """To the microsecond: sums of floats carry dust."""
    return None if begin is None or more is None else round(begin + more, 6)


def _local(name: str) -> str:
    """The name without its namespace."""
    return name.rpartition("}")[2]
