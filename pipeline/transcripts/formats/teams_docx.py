"""Teams' transcript in Word, or copied out of it: a paragraph is `Dana Kim   0:42`, a line break, and her words.

The paragraphs on top (title, date, length) are no speech; neither is who started and stopped the recording.
"""

import re

from pipeline.transcripts.headed import SPEAKER_AND_TIME, front, has_times, headings, is_headed, spoken
from pipeline.transcripts.omissions import left_out
from pipeline.transcripts.source import Parsed, Source, bounded

NAME = "teams_docx"

_THREE_BLANKS = 3
#: On top of the text or below somebody's words; on a line between two others it was said.
_EVENT = re.compile(r"(?:^|\n)(?P<name>[^\n]{1,120}) (?:started|stopped) transcription\s{0,100}\Z")


def recognises(source: Source) -> bool:
    """Whether names and times stand above the words, three blanks apart."""
    if not (has_times(source.text) and is_headed(source.text, SPEAKER_AND_TIME)):
        return False
    first = next(headings(source.text, SPEAKER_AND_TIME))
    return len(first["gap"]) >= _THREE_BLANKS and "*" not in first[0]


def parse(source: Source) -> Parsed:
    """One turn for each heading."""
    top, title = front(source.text, SPEAKER_AND_TIME)
    found = list(bounded(spoken(source.text, SPEAKER_AND_TIME)))
    names = {section.name for section in found}
    texts = [_without_event(section.text, names) for section in found]
    events = [section.text[len(text) :] for section, text in zip(found, texts, strict=True)]
    warnings = left_out("front_matter_left_out", title, *events)
    turns = [section._replace(text=text).turn() for section, text in zip(found, texts, strict=True)]
    return Parsed([*top, *turns], warnings)


def _without_event(text: str, names: set[str | None]) -> str:
    """Without which of the speakers started or stopped the recording; "He stopped transcription" was said."""
    event = _EVENT.search(text)
    return text[: event.start()] if event and event["name"] in names else text
