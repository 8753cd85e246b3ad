"""Signals that a deal moves: the stage is only proposed, people decide."""

import re
from collections.abc import Iterator

from pipeline.domain.actions import ProposedAction
from pipeline.summarizers.extractive.sentences import Sentence
from pipeline.summarizers.extractive.wording import quotes

_WE = r"\b(?:i|we)(?:'ve|'re|\s+have|\s+are|'m|\s+am)?\s+(?:just\s+|now\s+|all\s+|finally\s+|already\s+)*"
_PAPER = r"(?:(?:signed\s+|final\s+|updated\s+|revised\s+)?(?:contract|agreement|order\s+form|msa|statement\s+of\s+work|sow|paperwork))"

#: In this order: a loss outweighs what else the sentence says.
_SIGNALS = (
    (
        "Closed Lost",
        "The buyer decided against it",
        rf"{_WE}(?:decided|chosen|chose|agreed|opted|going|gone|went)\s+(?:to\s+(?:go|work|stay|stick)\s+)?(?:with|for)\s+"
        r"(?:another|a\s+different|someone\s+else|somebody\s+else|a\s+competitor|one\s+of\s+your\s+competitors|our\s+(?:current|existing))|"
        rf"{_WE}(?:decided|chosen|chose)\s+(?:not\s+to|against)\s+(?:move\s+forward|proceed|go\s+ahead|go\s+forward|buy|renew|sign|moving|proceeding|renewing|buying)|"
        rf"{_WE}not\s+(?:going\s+to\s+(?:move\s+forward|proceed|renew|go\s+ahead)|moving\s+forward|renewing)\b|"
        r"\bwe\s+won't\s+be\s+(?:moving\s+forward|renewing|proceeding|going\s+ahead)\b",
    ),
    (
        "Closed Won",
        "The buyer decided for it",
        rf"{_WE}(?:signed|countersigned)\s+(?:the|your|it|and)\b|"
        rf"{_WE}(?:decided|chosen|chose|agreed)\s+to\s+(?:go\s+with\s+(?:you|your)\b|buy\b|sign\b|move\s+forward\s+with\s+(?:you|your)\b)",
    ),
    (
        "Legal Review",
        "The paper goes to review",
        r"\b(?:goes?|going|go|send|sent|sending|pass|run|take|submit)\s+(?:it\s+|this\s+|that\s+|the\s+\w+\s+)?(?:to|through|by|past|over\s+to)\s+(?:our\s+|the\s+)?(?:legal|procurement)\b|"
        r"\b(?:legal|procurement)\s+(?:team\s+|department\s+)?(?:is|are|has\s+to|have\s+to|needs?\s+to|will)\s+(?:currently\s+|still\s+)?(?:review|reviewing|redlin\w+|look\w*\s+at)\b|"
        r"\b(?:in|under|through|pending|for)\s+(?:a\s+)?legal\s+review\b",
    ),
    (
        "Negotiation",
        "The buyer is ready for the contract",
        rf"\b(?:send|sends|get|email|shoot)\s+(?:me\s+|us\s+|over\s+|it\s+)*(?:over\s+)?(?:the|a|your|that)\s+{_PAPER}\b|"
        r"\b(?:we're|we\s+are|i'm|i\s+am)\s+(?:ready|prepared|happy|good|set)\s+to\s+(?:sign|move\s+forward|proceed|go\s+ahead|buy|commit|purchase)\b|"
        rf"\blet's\s+(?:sign|get\s+(?:the\s+|this\s+)?(?:{_PAPER}\s+)?signed|move\s+forward\s+with\s+the\s+(?:{_PAPER}|purchase|order))\b",
    ),
)
_RULES = [(stage, why, re.compile(pattern, re.IGNORECASE)) for stage, why, pattern in _SIGNALS]
_UNSAID = re.compile(
    r"\b(?:if|unless|whether|once|when|until|before|after|suppose|would|might|may|maybe|said|told|not|never|don't|didn't|haven't|can't|won't|aren't|isn't)\b",
    re.IGNORECASE,
)


def stage_signal(sentence: Sentence) -> Iterator[ProposedAction]:
    """The stage that the sentence points to, at most one."""
    for stage, why, rule in _RULES:
        match = rule.search(sentence.plain)
        if match and not _UNSAID.search(sentence.plain[: match.start()]):
            yield ProposedAction(
                kind="update_stage", text=f"{why}: {stage}.", proposed_stage=stage, quotes=quotes((sentence,))
            )
            return
