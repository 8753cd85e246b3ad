"""The words that say when, verbatim: `by Friday`, `tomorrow morning`, `in two weeks`."""

import re

_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_MONTH = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december|"
    r"jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)"
)
_PART = r"(?:\s+(?:morning|afternoon|evening|night))"
_CLOCK = r"(?:\d{1,2}(?::\d{2})?\s?(?:am|pm|a\.m\.|p\.m\.|o'clock)|\d{1,2}:\d{2}|noon|midnight)"
_DATE = (
    rf"(?:{_MONTH}\s+(?:the\s+)?\d{{1,2}}(?:st|nd|rd|th)?\b|"
    rf"(?:the\s+)?\d{{1,2}}(?:st|nd|rd|th)(?:\s+(?:of\s+)?{_MONTH})?\b|"
    r"\d{1,2}/\d{1,2}(?:/\d{2,4})?|\d{4}-\d{2}-\d{2})"
)
_END = (
    r"(?:the\s+)?(?:end|close|start|beginning|middle)\s+of\s+(?:(?:the|this|next)\s+)?"
    r"(?:day|business|week|month|quarter|year|today|tomorrow)"
)
_COUNT = r"(?:an?|one|two|three|four|five|six|seven|ten|\d{1,3}|a\s+few|a\s+couple(?:\s+of)?|(?:the\s+)?next\s+\w+)"
_POINT = (
    rf"(?:{_END}|eod|eow|cob|first\s+thing(?:\s+(?:tomorrow|{_DAY}|in\s+the)){_PART}?|"
    rf"tomorrow{_PART}?|tonight|(?:later\s+)?today|later\s+this\s+(?:week|month|morning|afternoon)|"
    rf"(?:early\s+|late\s+)?(?:next|this(?:\s+coming)?)\s+(?:{_DAY}{_PART}?|week|month|quarter|morning|afternoon|evening|weekend)|"
    rf"{_DAY}{_PART}?|{_DATE}|the\s+weekend)"
)
_DUE = re.compile(
    rf"\b(?:(?:by|before|no\s+later\s+than|on|until|over|from)\s+)?{_POINT}"
    rf"(?:\s+(?:at|by|before)\s+{_CLOCK})?(?!\w)"
    rf"|\b(?:by|before|at)\s+{_CLOCK}(?!\w)"
    rf"|\b(?:in|within)\s+(?:about\s+)?{_COUNT}\s+(?:more\s+)?(?:business\s+|working\s+)?(?:minute|hour|day|week|month)s?\b"
    r"|\bas\s+soon\s+as\s+possible\b|\basap\b|\bafter\s+(?:this|the)\s+(?:call|meeting)\b",
    re.IGNORECASE,
)


def due_words(text: str) -> str | None:
    """The first words in `text` that name a time, with their preposition, in the text's own characters."""
    match = _DUE.search(text.replace("\u2019", "'"))
    return text[match.start() : match.end()] if match else None
