"""Signals that a deal moves: the stage is only proposed, people decide.

The patterns are matched against `Sentence.plain`, where words are parted by single spaces.
"""

import re
from collections.abc import Iterator

from pipeline.domain.actions import ProposedAction
from pipeline.summarizers.extractive.sentences import Sentence
from pipeline.summarizers.extractive.wording import quotes

_WE = r"\b(?:i|we)(?:'ve|'re| have| are|'m| am)?(?: just| now| all| finally| already)*"
_OTHERS = (
    r"(?:another|a different|someone else|somebody else|a competitor|one of your competitors|our (?:current|existing))"
)
_PAPER = (
    r"(?:(?:draft|signed|final|updated|revised) )?(?:contract|agreement|order form|msa|statement of work|sow|paperwork)"
)
_GO_ON = r"(?:move forward|moving forward|proceed|proceeding|go ahead|going ahead|buy|renew|renewing|commit|sign)"
_TO = r"(?:through|to|by|past|over to)"
_REVIEWER = r"(?:our |the )?(?:legal|procurement)"

_LOSS, _WIN = "The buyer decided against it", "The buyer decided for it"
_REVIEW, _READY = "The paper goes to review", "The buyer is ready for the contract"

#: In this order: a loss outweighs what else the sentence says.
_SIGNALS = (
    ("Closed Lost", _LOSS, rf"{_WE} (?:decided|chosen|chose|opted) (?:to (?:go|work|stay|stick) with|for) {_OTHERS}\b"),
    ("Closed Lost", _LOSS, rf"{_WE} (?:going|gone|went) with {_OTHERS}\b"),
    ("Closed Lost", _LOSS, rf"{_WE} (?:decided|chosen|chose) (?:not to|against) {_GO_ON}\b"),
    ("Closed Lost", _LOSS, rf"{_WE} not (?:going to )?{_GO_ON}\b"),
    ("Closed Lost", _LOSS, rf"\bwe won't be {_GO_ON}\b"),
    ("Closed Won", _WIN, rf"{_WE} (?:signed|countersigned) (?:the|your|it)\b"),
    ("Closed Won", _WIN, rf"{_WE} (?:decided|chosen|chose) to go with (?:you|your)\b"),
    ("Closed Won", _WIN, rf"{_WE} (?:decided|chosen|chose|agreed) to (?:buy|sign|move forward)\b"),
    ("Legal Review", _REVIEW, rf"\b(?:go|goes|going) {_TO} {_REVIEWER}\b"),
    ("Legal Review", _REVIEW, rf"\b(?:send|pass|run|take) (?:it|this|that|the \w+) {_TO} {_REVIEWER}\b"),
    ("Legal Review", _REVIEW, rf"\b{_REVIEWER}(?: team)? (?:is|has to|needs? to|will) (?:review|redlin)"),
    ("Legal Review", _REVIEW, r"\b(?:in|under|through|pending) legal review\b"),
    ("Negotiation", _READY, rf"(?<!'ll )(?<!will )\bsend (?:me |us )?(?:over )?(?:the|a|your|that) {_PAPER}\b"),
    ("Negotiation", _READY, rf"\b(?:we|i)(?:'re|'m| are| am) (?:ready|happy|all set) to {_GO_ON}\b"),
    ("Negotiation", _READY, rf"\blet's (?:sign|get (?:the |this )?(?:{_PAPER} )?signed|{_GO_ON} with the {_PAPER})\b"),
)  # fmt: skip
_RULES = [(stage, why, re.compile(pattern, re.IGNORECASE)) for stage, why, pattern in _SIGNALS]
_UNSAID = re.compile(
    r"\b(?:if|unless|whether|once|when|until|before|after|suppose|would|might|may|maybe|said|told|not|never|\w+n't)\b",
    re.IGNORECASE,
)


def stage_signal(sentence: Sentence) -> Iterator[ProposedAction]:
    """The stage that the sentence points to, at most one."""
    asked = "?" in sentence.plain  # `Can you send over the contract?` is a signal, `Did you sign it?` is none
    for stage, why, rule in _RULES:
        match = rule.search(sentence.plain)
        if match and not (asked and stage != "Negotiation") and not _UNSAID.search(sentence.plain[: match.start()]):
            yield ProposedAction(
                kind="update_stage", text=f"{why}: {stage}.", proposed_stage=stage, quotes=quotes((sentence,))
            )
            return
