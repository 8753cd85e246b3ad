"""Text that PostgreSQL and JSON can hold: no NUL characters, no lone surrogates; and names in one spelling."""

import re
import unicodedata

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
REPLACEMENT = "\ufffd"


def storable(text: str) -> str:
    """The text with each NUL character and each lone surrogate replaced by U+FFFD; lengths stay the same."""
    if text.isascii() and "\x00" not in text:  # most texts, and ten times as fast
        return text
    return _UNSTORABLE.sub(REPLACEMENT, text)


def is_storable(text: str) -> bool:
    """Whether the text holds neither NUL characters nor lone surrogates."""
    return (text.isascii() and "\x00" not in text) or _UNSTORABLE.search(text) is None


def nfc(name: str) -> str:
    """The one spelling of a name: file systems differ in how they write an umlaut."""
    return unicodedata.normalize("NFC", name)
