"""Clock times in transcripts, as seconds from the start of the recording."""

import re

#: H:MM:SS, MM:SS, with a point or a comma before the fraction, with or without leading zeros.
CLOCK = r"(?:[0-9]{1,4}:)?[0-9]{1,2}:[0-9]{1,2}(?:[.,][0-9]{1,9})?"
_PARTS = re.compile(r"(?:([0-9]{1,4}):)?([0-9]{1,2}):([0-9]{1,2})(?:[.,]([0-9]{1,9}))?(?![0-9:.,])")


def seconds(text: str) -> float | None:
    """The time that `text` begins with, or None.

    A fraction of up to three digits counts milliseconds: old Teams exports write 80 ms as `.80`, and reading that as
    a decimal puts cues before their predecessors.
    """
    parts = _PARTS.match(text)
    if parts is None:
        return None
    hours, minutes, whole, fraction = parts.groups()
    return int(hours or 0) * 3600 + int(minutes) * 60 + int(whole) + _fraction(fraction or "0")


def _fraction(digits: str) -> float:
    return int(digits) / (1000 if len(digits) <= 3 else 10 ** len(digits))
