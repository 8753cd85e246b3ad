"""Foreign words inside Markdown: they show as they were said, and never act.

Whatever a customer says must not become a heading, a link, HTML, an image or a table. One line in, one line out.
"""

import re
from typing import Final

from pipeline.domain.text import REPLACEMENT

# Escape sequences of terminals, and the marks that turn the direction of all that follows.
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_ENTITIES: Final = (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"))
# `$` is mathematics on some renderers, `~` strikes through.
_MARKS: Final = re.compile(r"[\\`*_{}\[\]#|~$]")
# What renderers find links by that nobody marked as such: www.example.com.
_NAME_DOT: Final = re.compile(r"\.(?=\w)")
# What only acts at the beginning of a block: lists, rules, underlines of headings.
_LEADING: Final = re.compile(r"^(?:[-+=:]|\d{1,9}[.)])")
# Renderers find mail addresses after they have undone every escape: only a code span keeps the two halves apart.
_MAIL: Final = re.compile(r"@+")


def escape(text: str) -> str:
    """The text as one line of plain Markdown words, safe anywhere in a line and in a table's cell; never empty."""
    line = " ".join(text.split()) or "(blank)"
    if not line.isprintable():
        line = _CONTROL.sub(REPLACEMENT, line)
    for plain, entity in _ENTITIES:
        line = line.replace(plain, entity)
    # Functions, not templates: `re` expands a template in Python, which took two thirds of a report's time.
    line = _MARKS.sub(_escaped, line)
    line = _NAME_DOT.sub(_escaped, line).replace("://", "\\://")
    line = _LEADING.sub(_escaped, line)
    return _MAIL.sub(_apart, line) if "@" in line else line


def _escaped(match: re.Match[str]) -> str:
    """A backslash before the last character that matched."""
    found = match[0]
    return f"{found[:-1]}\\{found[-1]}"


def _apart(match: re.Match[str]) -> str:
    return f"`{match[0]}`"
