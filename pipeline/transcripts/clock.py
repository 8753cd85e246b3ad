"""Clock times in transcripts, as seconds from the start of the recording."""

import re

#: H:MM:SS, MM:SS, with a point or a comma before the fraction, with or without leading zeros.
CLOCK = r"(?:[0-9]{1,4}:)?[0-9]{1,2}:[0-9]{1,2}(?:[.,][0-9]{1,9})?"
#: The same with a group for each part, to be given to `of`.
PARTS = r"(?:([0-9]{1,4}):)?([0-9]{1,2}):([0-9]{1,2})(?:[.,]([0-9]{1,9}))?(?![\w:.,])"
_PARTS = re.compile(PARTS)


def seconds(text: str) -> float | None:
    """The time that `text` begins with, or None."""
    parts = _PARTS.match(text)
    return None if parts is None else of(*parts.groups())


def of(hours: str | None, minutes: str, whole: str, fraction: str | None) -> float:
    """The time that has these digits.

    A fraction of up to three digits counts milliseconds: old Teams exports write 80 ms as `.80`, and reading that as
    a decimal puts cues before their predecessors.
    """
    time = float(minutes) * 60 + float(whole)  # exact, and twice as fast as int()
    if hours:
        time += float(hours) * 3600
    if not fraction:
        return time
    return time + float(fraction) / (1000 if len(fraction) <= 3 else 10 ** len(fraction))
