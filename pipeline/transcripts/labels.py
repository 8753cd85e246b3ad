"""Speaker labels: `Name: text` at the start of a line, told apart from prose that holds a colon.

One label proves nothing ("The short answer: no."). A label counts when it comes back, or in the company of labels
that do.
"""

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

#: `Name: `, `Name:` at the line's end, `**Name:** ` and the fullwidth colon. A clock time has no space after its colon.
#: The pattern takes the asterisks behind a name for a part of it: `name_of` knows better.
LABEL = r"(?:\*\*)?(?P<label>[^\s:\uff1a*#\[(<][^:\uff1a\n]{0,61})(?::(?:\*\*)?(?=\s|$)|\uff1a)[ \t]?"

_FIRST = re.compile(rf"[ \t]{{0,8}}{LABEL}")

#: No call has more speakers; a hostile file could name millions.
_MAX_LABELS = 10_000
_MAX_WORDS = 5
#: What follows a name in Zoom's labels: "Anna Kim | Northwind (she/her)".
_SUFFIX = re.compile(r"\s*[|(\[/].*$", re.DOTALL)
_SENTENCE = re.compile(r"[!?;\u2026\u3002\uff01\uff1f]|\w{4}\.\s")
_ROLE = re.compile(
    r"(?:agent|buyer|caller|client|customer|guest|host|interviewer|prospect|rep|sales(?: rep)?|seller"
    r"|(?:speaker|person|participant|sprecher|interlocuteur) ?\w{1,2})",
    re.IGNORECASE,
)
_HEADINGS = re.compile(
    r"action(?: items?)?|agenda|attendees|b?cc|date|decision|example|from|fwd?|important|next steps|notes?|p\.?s\.?|re"
    r"|sent|subject|summary|tip|to|todo|topic|update|warning",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def _is_plausible(label: str) -> bool:
    """Whether a label could be a speaker's at all: short, not a sentence, not a heading."""
    name = _SUFFIX.sub("", label) or label
    return len(name.split()) <= _MAX_WORDS and not _SENTENCE.search(label) and not _HEADINGS.fullmatch(name)


def believed(labels: Iterable[str | None], *, captions: bool = False) -> frozenset[str]:
    """Which labels are speakers, of those that the lines of a text begin with (None: a line without one).

    Where every line has a label that looks like a name, captions prove by their times that somebody speaks; a text
    needs a role among them ("Rep: ..."), or a list of headings would be a conversation.
    """
    seen, unlabelled = _count(labels)
    repeated = {label for label, count in seen.items() if count > 1}
    once = {label for label in seen.keys() - repeated if _is_name(label)}
    if sum(seen[label] for label in repeated) >= 2 * len(once):
        return frozenset(repeated | once)
    proven = captions or (len(once) > 1 and any(map(_ROLE.fullmatch, once)))
    if proven and not unlabelled and len(once) == len(seen):
        return frozenset(once)
    return frozenset(repeated)


def name_of(match: re.Match[str]) -> str | None:
    """The label that a pattern with LABEL in it found, as the name it is."""
    label: str | None = match["label"]
    return label.rstrip(" \t*") if label else None


def first(text: str) -> str | None:
    """The label that a text begins with, whether it is a speaker's or not."""
    match = _FIRST.match(text)
    return name_of(match) if match else None


def split(text: str, speakers: frozenset[str]) -> tuple[str | None, str]:
    """A text's speaker and the words after the label; no speaker and the whole text where it is not one of them."""
    match = _FIRST.match(text)
    name = name_of(match) if match else None
    if match is None or name not in speakers:
        return None, text
    return name, text[match.end() :].removeprefix("\n")


def _count(labels: Iterable[str | None]) -> tuple[Counter[str], int]:
    seen: Counter[str] = Counter()
    unlabelled = 0
    for label in labels:
        if label is None or not _is_plausible(label):
            unlabelled += 1
        elif label in seen or len(seen) < _MAX_LABELS:
            seen[label] += 1
    return seen, unlabelled


def _is_name(label: str) -> bool:
    """Whether no word begins in lower case, as names do in scripts that have cases: "MARY ( whispering )" is one."""
    return not any(word[0].islower() for word in (_SUFFIX.sub("", label) or label).split())
