"""The words that say when, verbatim: `by Friday`, `tomorrow morning`, `in two weeks`."""

import re

_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_MONTH = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december|"
    r"jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)"
)
_PART = r"(?: (?:morning|afternoon|evening|night))"
_CLOCK = r"(?:\d{1,2}(?::\d{2})?\s?(?:am|pm|a\.m\.|p\.m\.|o'clock)|\d{1,2}:\d{2}|noon|midnight)"
_DATE = (
    rf"(?:{_MONTH} (?:the )?\d{{1,2}}(?:st|nd|rd|th)?\b|"
    rf"(?:the )?\d{{1,2}}(?:st|nd|rd|th)(?: (?:of )?{_MONTH})?\b|"
    r"\d{1,2}/\d{1,2}(?:/\d{2,4})?|\d{4}-\d{2}-\d{2})"
)
_END = (
    r"(?:the )?(?:end|close|start|beginning|middle) of (?:(?:the|this|next) )?"
    r"(?:day|business|week|month|quarter|year|today|tomorrow)"
)
_UNIT = r"(?:minute|hour|day|week|month)s?"
_NEXT = r"(?:next|this(?: coming)?)"
_COUNT = r"(?:an?|one|two|three|four|five|six|seven|ten|\d{1,3}|a few|a couple(?: of)?|(?:the )?next \w+)"
_POINT = (
    rf"(?:{_END}|(?:eod|cob)(?: (?:today|tomorrow|{_DAY}))?|eow|first thing(?: (?:tomorrow|{_DAY}|in the)){_PART}?|"
    rf"tomorrow{_PART}?|tonight|(?:later )?today|later this (?:week|month|morning|afternoon)|"
    rf"(?:early |late )?{_NEXT} (?:{_DAY}{_PART}?|week(?:end)?|month|quarter|morning|afternoon|evening)|"
    rf"{_DAY}{_PART}?|{_DATE}|the weekend)"
)
_DUE = re.compile(
    rf"\b(?:(?:by|before|no later than|on|until|over) )?{_POINT}"
    rf"(?: (?:at|by|before) {_CLOCK})?(?!\w)"
    rf"|\b(?:by|before|at) {_CLOCK}(?!\w)"
    rf"|\b(?:in|within) (?:about )?{_COUNT} (?:business |working )?{_UNIT}(?: or (?:so|two))?\b"
    r"|\bas soon as possible\b|\basap\b|\bafter (?:this|the) (?:call|meeting)\b",
    re.IGNORECASE,
)


def due_words(text: str) -> str | None:
    """The first words in `text` that name a time, with their preposition, in the text's own characters.

    `text` has single spaces and straight apostrophes.
    """
    match = _DUE.search(text)
    return match[0] if match else None
