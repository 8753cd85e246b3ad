"""Follow-ups from a request that the other side plainly accepts: `Can you send me the deck?` `Sure, will do.`"""

import re
from collections.abc import Callable

from pipeline.domain.actions import ProposedAction
from pipeline.summarizers.extractive.clauses import clause_after
from pipeline.summarizers.extractive.due import due_words
from pipeline.summarizers.extractive.sentences import Sentence
from pipeline.summarizers.extractive.wording import follow_up

_ACT = (
    r"(?:send|e-?mail|forward|share|ship) (?!your screen|the screen)(?:me|us|it|that|this|over|the|a|an|your|some)\b",
    r"(?:give (?:me|us) a call|call (?:me|us) back|follow up|get back to (?:me|us))\b",
    r"(?:schedule|set up|book|arrange) (?:a|an|the|another|some)\b",
    r"(?:introduce|put) (?:me|us) (?:to|in touch)\b",
)
_REQUEST = re.compile(
    rf"\b(?:can|could|would|will) you (?:(?:please|also|maybe|just|kindly) )*(?P<act>{'|'.join(_ACT)})", re.IGNORECASE
)
_ACCEPTS = re.compile(
    r"^(?:(?:yes|yeah|yep|sure|of course|absolutely|definitely|certainly|no problem|will do|you got it|"
    r"happy to|gladly|consider it done|i can do that|i'll do that|okay|ok|great|thing)[\s,.!]*)+",
    re.IGNORECASE,
)
_FIRM = re.compile(
    r"\b(?:yes|yep|sure|of course|absolutely|definitely|certainly|no problem|will do|you got it|happy to|"
    r"gladly|consider it done|can do that|i'll do that)\b",
    re.IGNORECASE,
)
_HEDGES = re.compile(r"\b(?:but|however|not|\w+n't|unfortunately|actually|if|maybe|first|or)\b|\?", re.IGNORECASE)
_NOW = re.compile(r"\b(?:right now|now|in the chat|screen)\b", re.IGNORECASE)


def accepted_request(
    asked: Sentence, answer: Sentence, owner_of: Callable[[str | None], str | None]
) -> ProposedAction | None:
    """The follow-up of the one who answers, where `answer` is the other speaker's next sentence; else None."""
    match = _REQUEST.search(asked.plain)
    if match is None or asked.speaker == answer.speaker or not _accepts(answer.plain):
        return None
    act = clause_after(asked.plain, match.start("act"), match.end("act")).rstrip("?")
    if _NOW.search(act) or _HEDGES.search(asked.plain[: match.start()]):
        return None
    return follow_up(owner_of(answer.speaker), act, due_words(act), (asked, answer))


def _accepts(said: str) -> bool:
    accepts = _ACCEPTS.match(said)
    return accepts is not None and _FIRM.search(accepts[0]) is not None and not _HEDGES.search(said)
