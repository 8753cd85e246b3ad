"""Speaker labels: `Name: text` at the start of a line, told apart from prose that holds a colon.

One label proves nothing ("The short answer: no."). A label counts when it comes back, or in the company of labels
that do.
"""

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

#: `Name: `, `Name:` at the line's end, `**Name:** `, `Name:- ` and the fullwidth colon. A clock time has no space after
#: its colon. The pattern takes the asterisks behind a name for a part of it: `name_of` knows better.
#: WhisperX writes `[SPEAKER_00]: `.
LABEL = (
    r"(?:\*\*)?(?P<label>\[[^][:\uff1a\n]{1,60}\](?=:)|[^\s:\uff1a*#\[(<][^:\uff1a\n]{0,61})"
    r"(?::(?:\*\*|-)?(?=\s|$)|\uff1a)[ \t]?"
)

#: What stands in captions before the words of another speaker, and before the name.
DASH = r"(?:-(?![-0-9])|[\u2013\u2014](?=[ \t])|>{2,3})[ \t]{0,4}"

#: A caption's label ends at the first colon with a blank behind it: Zoom's names may be "[Rye] Jo" or "Room 3:B".
_CAPTION = re.compile(
    rf"[ \t]{{0,8}}(?:{DASH})?"
    r"(?:\*\*)?([^\s:\uff1a<][^:\uff1a\n]{0,80}(?::(?=[^\s*])[^:\uff1a\n]{1,40}){0,4})"
    r"(?::(?:\*\*)?(?=\s|$)|\uff1a)[ \t]?"
)

_BRACKETED = re.compile(r"\[[^][\s](?:[^][]*[^][\s])?\]")
#: More than `_CAPTION` can match.
_LONGEST = 300

_MAX_WORDS = 5
#: "Dana Kim, Vice President of Sales, Northwind".
_MAX_TITLE_WORDS = 10
#: "Conference Room 3 - Main Building" is a participant of a meeting, and its captions prove that somebody speaks.
_MAX_CAPTION_WORDS = 8
#: What follows a name in Zoom's labels: "Anna Kim | Northwind (she/her)".
_SUFFIX = re.compile(r"\s*[|(\[/].*$", re.DOTALL)
_QUOTES = ('"', "'", "\u201c", "\u201e", "\u2018", "\u00ab")
_SENTENCE = re.compile(r"[!?;\u2026\u3002\uff01\uff1f]|\w{4}\.\s")
_ROLE = re.compile(
    r"(?:agent|buyer|caller|client|customer|guest|host|interviewer|prospect|rep|sales(?: rep)?|seller"
    r"|(?:speaker|person|participant|sprecher|interlocuteur) ?\w{1,2})",
    re.IGNORECASE,
)
#: What stands inside a name in lower case: Jerome de Tychey, Anna van der Berg.
_PARTICLE = re.compile(r"al|bin|d[aeiou]|del|della|den|der|dos|el|l[ae]|v[ao]n|y|zu")
_HEADINGS = re.compile(
    r"action(?: items?)?|agenda|attendees|authority|background|b?cc|budget|company|conclusions?|context|date|deadline"
    r"|decisions?|duration|e-?mail|example|from|fwd?|goals?|important|keywords|location|need|next steps|notes?"
    r"|open questions|outcome|owner|participants|phone|price"
    r"|pricing|problem|p\.?s\.?|re|recommendation|result|risks?|scope|sent|solution|stage|status|subject|summary|time|timeline"
    r"|tip|title|to|todo|topics?|total|update|warning|yes|no|okay|(?:day|item|option|part|phase|point|step) \w{1,3}",
    re.IGNORECASE,
)


def is_plausible(label: str, most_words: int = _MAX_WORDS) -> bool:
    """Whether a label could be a speaker's at all: short, not a sentence, not a quotation, not a heading."""
    name = _bare(label)
    return (
        len(name.split()) <= most_words
        and not label.startswith(_QUOTES)
        and not _SENTENCE.search(label)
        and not _HEADINGS.fullmatch(name)
    )


def may_name(label: str) -> bool:
    """Whether a label looks like a caption's speaker even where other lines are wrapped: a name, or a role."""
    return is_plausible(label, _MAX_CAPTION_WORDS) and (_is_name(label) or _ROLE.fullmatch(label) is not None)


def believed(labels: Iterable[str | None], *, captions: bool = False, answered: bool = False) -> frozenset[str]:
    """Which labels are speakers, of those that the lines of a text begin with (None: a line without one).

    Where most captions have a label that looks like a name, their times prove that somebody speaks. A text needs one on
    every line, and a role among them ("Rep: ..."), or sentences of which one asks (`answered`), or a list of headings
    would be a conversation.
    """
    seen, unlabelled = _count(labels, _MAX_CAPTION_WORDS if captions else _MAX_WORDS)
    names = Counter(map(_bare, seen.elements()))
    repeated = {label for label in seen if names[_bare(label)] > 1}
    once = {label for label in seen.keys() - repeated if _is_name(label)}
    if sum(seen[label] for label in repeated) >= 2 * len(once):
        return frozenset(repeated | once)
    proven = captions or (len(once) > 1 and (answered or any(map(_ROLE.fullmatch, once))))
    if proven and unlabelled <= (len(once) if captions else 0) and len(once) == len(seen):
        return frozenset(once)
    return frozenset(repeated)


def name_of(match: re.Match[str]) -> str | None:
    """The label that a pattern with LABEL in it found, as the name it is."""
    label: str | None = match["label"]
    return _without_brackets(label.strip(" \t*|_")) or None if label else None


def start(text: str) -> tuple[str | None, int]:
    """The label that a caption begins with, whether it is a speaker's or not, and where the words after it begin."""
    colon = text.find(": ", 0, _LONGEST)
    return _start(text) if colon < 0 else _start_again(text[: colon + 2])  # no label goes on behind a colon and a blank


def _start(text: str) -> tuple[str | None, int]:
    match = _CAPTION.match(text)
    return (_without_brackets(match[1].rstrip(" \t*")), match.end()) if match else (None, 0)


def _without_brackets(label: str) -> str:
    """The label that stands in brackets as a whole; "[Rye] Jo" is Jo of Rye."""
    return label[1:-1] if _BRACKETED.fullmatch(label) else label


#: A call's captions begin with the same few names.
_start_again = lru_cache(maxsize=256)(_start)


def _count(labels: Iterable[str | None], most_words: int) -> tuple[Counter[str], int]:
    """How often each plausible label is there, and how many lines have none."""
    found = Counter(labels)
    seen = Counter(
        {
            label: count
            for label, count in found.items()
            if label and (is_plausible(label, most_words) or (count > 1 and _is_title(label)))
        }
    )
    return seen, found.total() - seen.total()


def may_be_a_strangers(label: str) -> bool:
    """Whether a label looks like somebody's that nothing else proves: short, most words in upper case, no heading."""
    return _is_title(label)


def is_heading(label: str) -> bool:
    """Whether it is what notes have above their parts; somebody may be called so."""
    return _HEADINGS.fullmatch(_bare(label)) is not None


def _is_title(label: str) -> bool:
    """Whether it is a name with its title and company: most words begin in upper case."""
    words = label.split()
    capitals = sum(not word[0].islower() for word in words)
    return len(words) <= _MAX_TITLE_WORDS and 2 * capitals > len(words) and is_plausible(label, _MAX_TITLE_WORDS)


def _bare(label: str) -> str:
    """The name alone: "Dana (nods)" is Dana."""
    return _SUFFIX.sub("", label) or label


def _is_name(label: str) -> bool:
    """Whether no word begins in lower case, as names do in scripts that have cases: "MARY ( whispering )" is one."""
    words = _bare(label).split()
    return not any(word[0].islower() and not _PARTICLE.fullmatch(word) for word in words)
