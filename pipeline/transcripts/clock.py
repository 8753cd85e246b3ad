"""Clock times in transcripts, as seconds from the start of the recording."""

import re

#: H:MM:SS, MM:SS, with a point or a comma before the fraction, with or without leading zeros.
CLOCK = r"(?:[0-9]{1,4}:)?[0-9]{1,2}:[0-9]{1,2}(?:[.,][0-9]{1,9})?"
#: The same with a group for each of hours, minutes and seconds, to be given to `of`.
PARTS = r"(?:([0-9]{1,4}):)?([0-9]{1,2}):([0-9]{1,2}(?:[.,][0-9]{1,9})?)(?![\w:.,])"
_PARTS = re.compile(PARTS)

#: Times as Teams wrote them until 2023: no field is padded, the milliseconds neither (`0:0:3.80` is 3.080 seconds).
_FIELDS = r"[0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}\."
_TIMES = re.compile(rf"^({_FIELDS})([0-9]{{1,3}}) --> ({_FIELDS})([0-9]{{1,3}})(?![\w:.,])", re.MULTILINE)
_UNPADDED = re.compile(r"^[0-9]{1,2}:(?:[0-9]:[0-9]{1,2}|[0-9]{2}:[0-9])\.[0-9]{1,3} --> ", re.MULTILINE)
_PADDED_FRACTION = re.compile(rf"^{_FIELDS}(?:[0-9]{{1,3}} --> {_FIELDS})?0[0-9]", re.MULTILINE)
#: Their first cues stand near the top.
_HEAD = 65_536


def seconds(text: str) -> float | None:
    """The time that `text` begins with, or None."""
    parts = _PARTS.match(text)
    return None if parts is None else of(*parts.groups())


def exactly(text: str) -> float | None:
    """The time that `text` is, or None: `10:05 AM` is another."""
    parts = _PARTS.fullmatch(text.strip())
    return None if parts is None else of(*parts.groups())


def of(hours: str | None, minutes: str, seconds: str) -> float:
    """The time that has these digits; the seconds may have a fraction."""
    time = float(minutes) * 60  # exact, and twice as fast as int()
    if hours:
        time += float(hours) * 3600
    return time + float(seconds.replace(",", "."))


def padded(text: str) -> str:
    """The text with the milliseconds of its timing lines padded to three digits, where it is an old export of Teams.

    Read as decimals, they would put cues before their predecessors. Where one begins with a zero, they are decimals.
    """
    if _UNPADDED.search(text, 0, _HEAD) is None or _PADDED_FRACTION.search(text):
        return text
    return _TIMES.sub(lambda times: f"{times[1]}{times[2]:0>3} --> {times[3]}{times[4]:0>3}", text)
