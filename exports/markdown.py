"""Foreign words inside Markdown: they show as they were said, and never act.

Whatever a customer says must not become a heading, a link, HTML, an image or a table. One line in, one line out. A
report is made of nothing but this, so words that need no escaping are only looked through, not rebuilt.
"""

import re
from typing import Final

from pipeline.domain.text import REPLACEMENT

# Escape sequences of terminals, and the marks that turn the direction of all that follows.
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
# `$` is mathematics on some renderers, `~` strikes through.
_MARKS: Final = re.compile(r"[\\`*_{}\[\]#|~$<>&]")
_ENTITIES: Final = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
# What renderers find links by that nobody marked as such: www.example.com.
_NAME_DOT: Final = re.compile(r"\.(?=\w)")
# What only acts at the beginning of a block: lists, rules, underlines of headings.
_LEADING: Final = re.compile(r"^(?:[-+=:]|\d{1,9}[.)])")
# Renderers find mail addresses after they have undone every escape: only a code span keeps the two halves apart.
_MAIL: Final = re.compile(r"@+")


def escape(text: str) -> str:
    """The text as one line of plain Markdown words, safe anywhere in a line and in a table's cell; never empty."""
    line = text.strip() or "(blank)"
    if not line.isprintable():
        line = _CONTROL.sub(REPLACEMENT, " ".join(line.split()))
    # Functions, not templates: `re` expands a template in Python, which took two thirds of a report's time.
    line = _NAME_DOT.sub(_escaped, _MARKS.sub(_harmless, line)).replace("://", "\\://")
    if not line[0].isalpha():
        line = _LEADING.sub(_escaped, line)
    return _MAIL.sub(_apart, line) if "@" in line else line


def _harmless(match: re.Match[str]) -> str:
    return _ENTITIES.get(match[0]) or f"\\{match[0]}"


def _escaped(match: re.Match[str]) -> str:
    """A backslash before the last character that matched."""
    found = match[0]
    return f"{found[:-1]}\\{found[-1]}"


def _apart(match: re.Match[str]) -> str:
    return f"`{match[0]}`"
