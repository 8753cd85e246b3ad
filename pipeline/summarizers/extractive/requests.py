"""Follow-ups from a request that the other side plainly accepts: `Can you send me the deck?` `Sure, will do.`"""

import re
from collections.abc import Callable

from pipeline.domain.actions import ProposedAction
from pipeline.summarizers.extractive.clauses import clause_after
from pipeline.summarizers.extractive.due import due_words
from pipeline.summarizers.extractive.sentences import Sentence
from pipeline.summarizers.extractive.wording import follow_up

_REQUEST = re.compile(
    r"\b(?:can|could|would|will)\s+you\s+(?:please\s+|also\s+|maybe\s+|just\s+|kindly\s+)*"
    r"(?P<act>(?:send|e-?mail|forward|share|ship)\s+(?!your\s+screen|the\s+screen)(?:me|us|it|that|this|over|the|a|an|your|some)\b|"
    r"(?:give\s+(?:me|us)\s+a\s+call|call\s+(?:me|us)\s+back|follow\s+up|get\s+back\s+to\s+(?:me|us)|"
    r"(?:schedule|set\s+up|book|arrange)\s+(?:a|an|the|another|some)\b|"
    r"(?:introduce|put)\s+(?:me|us)\s+(?:to|in\s+touch)))",
    re.IGNORECASE,
)
_ACCEPTS = re.compile(
    r"^(?:(?:yes|yeah|yep|sure|of\s+course|absolutely|definitely|certainly|no\s+problem|will\s+do|you\s+got\s+it|"
    r"happy\s+to|gladly|consider\s+it\s+done|i\s+can\s+do\s+that|i'll\s+do\s+that|okay|ok|great|thing)[\s,.!]*)+",
    re.IGNORECASE,
)
_FIRM = re.compile(
    r"\b(?:yes|yep|sure|of\s+course|absolutely|definitely|certainly|no\s+problem|will\s+do|you\s+got\s+it|happy\s+to|"
    r"gladly|consider\s+it\s+done|can\s+do\s+that|i'll\s+do\s+that)\b",
    re.IGNORECASE,
)
_HEDGES = re.compile(r"\b(?:but|however|not|\w+n't|unfortunately|actually|if|maybe|first|or)\b|\?", re.IGNORECASE)
_NOW = re.compile(r"\b(?:right\s+now|now|in\s+the\s+chat|screen)\b", re.IGNORECASE)


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
