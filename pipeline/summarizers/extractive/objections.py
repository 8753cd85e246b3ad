"""Objections as a buyer states them, by kind; said plainly, not asked, denied or supposed.

The patterns are matched against `Sentence.plain`, where words are parted by single spaces.
"""

import re
from collections.abc import Iterator

from pipeline.domain.actions import ProposedAction
from pipeline.summarizers.extractive.sentences import Sentence
from pipeline.summarizers.extractive.wording import quotes, shortened

_VERY = r"(?:(?:a bit|a little|way|much|far|really|very|just|still|also|somewhat|quite|pretty|kind of) )*"
_IS = r"(?:is|are|seems?|looks?|feels?)"
_BIG = r"(?:(?:main|biggest|only|big|one|real|serious|major) )*"
_WE_ARE = r"\b(?:i'm|i am|we're|we are|my \w+ is|our \w+ (?:is|are)|they're|they are)"
_VENDOR = r"(?:vendor|provider|supplier|solution|tool|system|setup|platform|software|partner|contract)"
_GATEKEEPER = r"(?:legal|security|compliance|procurement|infosec)(?: team| department)?"
_LATER = r"(?:switch|buy|change|invest|start|commit|sign|move|decide|migrate)"

#: What makes a general worry one about the purchase.
_AT_STAKE = (
    r".{0,60}\b(?:pric\w+|costs?|budget|contract|terms|security|compliance|privacy|integrat\w+|migrat\w+|rollout|"
    r"implementation|timeline|adoption|onboarding|switching|lock-in|roi|downtime|support|scalab\w+|reliab\w+|"
    r"your (?:product|platform|solution|software|company|service|tool|system|offer|proposal|quote|team))\b"
)

#: Plain in any call.
_PLAIN = (
    ("price", r"\b(?:too|prohibitively) (?:expensive|pricey|costly)\b"),
    ("price", r"\btoo much money\b"),
    ("price", r"\b(?:over|above|outside|beyond|out of|outside of|exceeds?|blows) (?:my|our) budget\b"),
    ("price", r"\b(?:don't|do not) have (?:(?:the|a|any|that|enough) )?budget\b"),
    ("price", r"\bno budget (?:for|left|this|until|in)\b"),
    ("price", r"\bbudget (?:is|has been|got) (?:frozen|cut|gone)\b"),
    (
        "price",
        rf"\b(?:price|pricing|cost|quote|fees?)(?: per \w+)? {_IS} {_VERY}(?:too )?(?:high|steep)\b",
    ),
    ("price", r"\b(?:we|i) (?:can't|cannot) (?:afford|justify)\b"),
    ("timing", rf"\b(?:isn't|is not|not) (?:really )?(?:a good|the right|the best) time (?:for us|to {_LATER})\b"),
    ("timing", rf"\b(?:timeline|timing|deadline) (?:is|seems|looks|feels) {_VERY}(?:too )?(?:tight|aggressive)\b"),
    ("timing", r"\b(?:timeline|timing) (?:doesn't|does not) work\b"),
    ("timing", rf"\b(?:we're|we are) not ready to {_LATER}\b"),
    ("vendor", rf"\b(?:happy|satisfied) with (?:our|the) (?:current|existing) (?:\w+ )?{_VENDOR}\b"),
    ("vendor", r"\b(?:locked in(?:to)?|under contract) (?:with|to|until|for|a)\b"),
    ("vendor", rf"\balready have a(?:nother)? {_VENDOR}\b"),
    (
        "vendor",
        r"\b(?:competitors?|other vendors?) (?:is|are|offers?|quoted|came in)(?: \w+){0,2} (?:cheaper|less|lower)\b",
    ),
    ("vendor", r"\b(?:found|have|got|seen|there's) (?:a |some )?cheaper (?:alternatives?|vendors?|quotes?|offers?)\b"),
    ("vendor", r"\bcheaper elsewhere\b"),
    (
        "vendor",
        r"\b(?:evaluating|looking at|talking to|comparing) (?:another|other|several|two|a few other) vendors?\b",
    ),
    ("gate", rf"\b{_GATEKEEPER} (?:won't|will not|would never|will never|doesn't (?:allow|like|approve))\b"),
    ("gate", rf"\b{_GATEKEEPER} (?:has|have|raised) (?:\w+ )?(?:concerns?|issues?|objections?|problems?)\b"),
    ("gate", rf"\b{_GATEKEEPER} (?:blocked|rejected|pushed back)\b"),
    (
        "concern",
        rf"\b(?:the|my|our) {_BIG}problem is (?:the |your |our )?(?:price|pricing|cost|budget|contract|timeline)\b",
    ),
    ("blocker", r"\b(?:deal[- ]?breaker|show[- ]?stopper)\b"),
)
_WORRIES = (
    ("concern", rf"{_WE_ARE} {_VERY}(?:concerned|worried|hesitant|nervous|s[ck]eptical) (?:about|that|by)\b"),
    ("concern", rf"\b(?:my|our|the) {_BIG}(?:concern|worry|objection|hesitation|reservation) (?:is|here|with|about)\b"),
    ("concern", rf"\b(?:i|we)(?:'ve got|'ve| have) (?:some |a few )?{_BIG}(?:concerns|reservations|doubts) about\b"),
)  # fmt: skip
#: Said of many things: counts only where the call is about buying.
_WHEN_BUYING = (
    ("concern", rf"\b(?:the|my|our) {_BIG}problem is\b"),
    ("blocker", r"\bwe (?:can't|cannot|won't be able to) (?:commit|move forward|proceed|sign|agree|accept|switch)\b"),
    ("timing", r"\btoo (?:soon|early) for us\b"),
    ("timing", r"\bnot (?:until|before) (?:next (?:year|quarter)|q[1-4])\b"),
)  # fmt: skip

_SHOWN = {
    "price": "price", "timing": "timing", "vendor": "another vendor", "gate": "legal or security",
    "blocker": "a blocker", "concern": "a concern",
}  # fmt: skip
_SUPPOSED = re.compile(
    r"\b(?:if|unless|whether|suppose|imagine|some (?:people|customers|clients)|used to|customers (?:often|sometimes)|"
    r"said|told|was|were|would be|wouldn't|must be|might|could)\b",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(?:not|isn't|aren't|wasn't|never|no longer|don't think|doesn't seem|nothing|hardly|without) (?:\w+ ){0,3}$",
    re.IGNORECASE,
)
#: Words of a plain statement; a longer run is a story.
_LONGEST = 45

_Rules = list[tuple[str, re.Pattern[str]]]


def _compiled(rules: tuple[tuple[str, str], ...], tail: str = "") -> _Rules:
    return [(kind, re.compile(pattern + tail, re.IGNORECASE)) for kind, pattern in rules]


_ANYWHERE = _compiled(_PLAIN) + _compiled(_WORRIES, _AT_STAKE)
_ABOUT_BUYING = _ANYWHERE + _compiled(_WORRIES) + _compiled(_WHEN_BUYING)


def objection(sentence: Sentence, *, buying: bool) -> Iterator[ProposedAction]:
    """The objection that the sentence states, at most one; `buying`: the call is about a purchase."""
    said = sentence.plain
    if "?" in said or said.count(" ") >= _LONGEST:
        return
    for kind, rule in _ABOUT_BUYING if buying else _ANYWHERE:
        match = rule.search(said)
        if match and not _taken_back(said[: match.start()]):
            yield ProposedAction(
                kind="record_objection",
                text=shortened(f"Objection ({_SHOWN[kind]}): {sentence.shown}"),
                quotes=quotes((sentence,)),
            )
            return


def _taken_back(before: str) -> bool:
    return bool(_SUPPOSED.search(before) or _DENIED.search(before))
