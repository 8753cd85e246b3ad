"""A web page, rich text, or XML of a shape that no reader knows: refused, since its tags are no speech."""

import re

from pipeline.errors import ItemFailure
from pipeline.transcripts.source import Parsed, Source

NAME = "unknown_markup"

#: How such a file begins. A tag that may stand in captions, or a nick in angle brackets, is not among them.
_FIRST = re.compile(
    r"\s{0,1000}(?:<!--.{0,1000}?-->\s{0,1000}){0,3}"
    r"(?:\{\\rtf|<\?xml|<!doctype|<(?:html|head|body|meta|title|style|script|div|p|h[1-6]|ul|ol|table|section|article"
    r"|main|header|transcript|timedtext|smil|sami)(?:[\s/][^<>]{0,4000})?>)",
    re.DOTALL | re.IGNORECASE,
)


def recognises(source: Source) -> bool:
    """Whether it begins as a page, a document in rich text, or XML."""
    return _FIRST.match(source.text) is not None


def parse(_source: Source) -> Parsed:
    """Raises ItemFailure(unreadable_input)."""
    raise ItemFailure(
        "unreadable_input", "HTML, RTF or XML, not a transcript: save it as .txt or .docx, or export it as .vtt or .srt"
    )
