"""Short sentences of our own for people who review: who does what, told from outside the call."""

import re
from collections.abc import Sequence

from pipeline.domain.actions import ProposedAction, Quote
from pipeline.summarizers.extractive.sentences import Sentence

_LONGEST = 180
_SHORTEST_QUOTE = 12
_FROM_OUTSIDE = {
    "i": "they", "we": "they", "you": "them", "me": "them", "us": "them",
    "my": "their", "our": "their", "your": "their", "mine": "theirs", "ours": "theirs", "yours": "theirs",
    "i'm": "they're", "we're": "they're", "you're": "they're", "i've": "they've", "we've": "they've",
    "you've": "they've", "i'll": "they'll", "we'll": "they'll", "you'll": "they'll",
}  # fmt: skip
_FIRST_OR_SECOND = re.compile(
    r"\b(?:" + "|".join(sorted(_FROM_OUTSIDE, key=len, reverse=True)) + r")\b(?!')", re.IGNORECASE
)
#: `you` before one of these is a subject: `what you need`, `when you are ready`.
_SUBJECT_YOU = re.compile(
    r"\byou(?=\s+(?:need|want|have|can|are|were|do|did|asked|use|will|would|could|should|said|"
    r"mentioned|requested|wanted|needed|guys\s+\w+)\b)",
    re.IGNORECASE,
)


def follow_up(owner: str | None, act: str, due: str | None, said_in: Sequence[Sentence]) -> ProposedAction:
    """`Dana will send them the quote by Friday.`; `act` begins with the verb."""
    told = _from_outside(act)
    return ProposedAction(
        kind="follow_up",
        text=f"{owner} will {told}." if owner else f"{told[0].upper()}{told[1:]}.",
        owner=owner,
        due_text=_verbatim(due, said_in) if due else None,
        quotes=quotes(said_in),
    )


def quotes(said_in: Sequence[Sentence]) -> tuple[Quote, ...]:
    """The sentences, verbatim, that are long enough to be evidence."""
    return tuple(Quote(quote=sentence.text, turn=sentence.turn) for sentence in said_in if is_evidence(sentence))


def is_evidence(sentence: Sentence) -> bool:
    """Whether the sentence has the 12 characters that a quote needs, runs of white space counted once."""
    return len(" ".join(sentence.text.split())) >= _SHORTEST_QUOTE


def shortened(words: str) -> str:
    """At most 180 characters, cut at a word."""
    return words if len(words) <= _LONGEST else words[:_LONGEST].rsplit(" ", 1)[0] + " …"


def _from_outside(act: str) -> str:
    told = _SUBJECT_YOU.sub("they", act)
    told = _FIRST_OR_SECOND.sub(lambda match: _FROM_OUTSIDE[match[0].lower()], told)
    return shortened(told)


def _verbatim(due: str, said_in: Sequence[Sentence]) -> str | None:
    pattern = re.compile(r"\s+".join(map(re.escape, due.split())))
    found = (pattern.search(sentence.text) for sentence in said_in)
    return next((match[0] for match in found if match), None)
