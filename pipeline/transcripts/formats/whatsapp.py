"""A WhatsApp chat as it is exported: `[12/05/2026, 10:01:00] Dana Kim: hi` or `12/05/2026, 10:01 - Dana Kim: hi`.

Dates are written as the phone's region does.
"""

import re

from pipeline.transcripts.source import CHAT, Parsed, Source

NAME = "whatsapp"

#: A date that begins with the year has a comma behind it: without one it is what any recorder writes.
_DATE = r"(?:[0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{2,4}|[0-9]{4}[./-][0-9]{1,2}[./-][0-9]{1,2}(?=,))"
_CLOCK = r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2})?(?:[ \u202f][AaPp]\.?[Mm]\.?)?"
_MESSAGE = rf"\u200e?(?:\[{_DATE},? {_CLOCK}\]|{_DATE},? {_CLOCK} -) [^\n]{{1,200}}"
#: Two messages on top: the first is often WhatsApp's own word on encryption.
_CHAT = re.compile(rf"\s{{0,1000}}{_MESSAGE}[^\n]{{0,65536}}\n(?:(?!{_MESSAGE})[^\n]{{0,65536}}\n){{0,100}}{_MESSAGE}")


def recognises(source: Source) -> bool:
    """Whether it begins with two messages."""
    return _CHAT.match(source.text) is not None


def parse(_source: Source) -> Parsed:
    """Nothing that was said."""
    return Parsed([], instead=CHAT)
