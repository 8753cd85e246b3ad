"""Objections as a buyer states them, by kind; said plainly, not asked, denied or supposed."""

import re
from collections.abc import Iterator

from pipeline.domain.actions import ProposedAction
from pipeline.summarizers.extractive.sentences import Sentence
from pipeline.summarizers.extractive.wording import quotes, shortened

_VERY = r"(?:(?:a|bit|little|way|much|far|really|very|just|simply|kind\s+of|still|also|somewhat|quite|pretty)\s+)*"
_MINE = r"(?:my|our|the|my\s+team's|their)"
_WE_ARE = r"\b(?:i'm|i\s+am|we're|we\s+are|my\s+\w+\s+is|our\s+\w+\s+(?:is|are)|they're|they\s+are)\s+"

#: Plain in any call.
_ALWAYS = {
    "price": (
        rf"\b(?:too|prohibitively)\s+(?:expensive|pricey|costly|steep\s+for)\b|\b(?:too\s+much\s+money)\b|"
        rf"\b(?:over|above|outside|beyond|out\s+of|exceeds?|blows)\s+(?:of\s+)?(?:my|our)\s+budget\b|"
        rf"\b(?:don't|do\s+not|didn't)\s+have\s+(?:the|a|any|that|enough)\s+(?:\w+\s+)?budget\b|"
        rf"\b(?:no|isn't\s+any|not\s+any)\s+budget\s+(?:for|left|this|until|in)\b|\bbudget\s+(?:is|has\s+been)\s+(?:frozen|cut|gone|tight)\b|"
        rf"\b(?:price|pricing|cost|quote|fees?|rate)\s+(?:is|are|seems?|looks?|feels?)\s+{_VERY}(?:high|steep|expensive|too\s+much)\b|"
        rf"\b(?:we|i)\s+(?:can't|cannot)\s+(?:afford|justify)\b"
    ),
    "timing": (
        r"\b(?:isn't|is\s+not|not|wasn't)\s+(?:really\s+)?(?:a\s+good|the\s+right|the\s+best)\s+time\s+(?:for\s+us|to\s+(?:switch|buy|change|invest|start))\b|"
        r"\b(?:timeline|timing|deadline)\s+(?:is|seems|looks|feels|doesn't)\s+(?:too\s+|really\s+|very\s+)*(?:tight|aggressive|short|work)\b|"
        r"\b(?:we're|we\s+are)\s+not\s+ready\s+to\s+(?:buy|switch|commit|sign|move|buy|decide|migrate)\b"
    ),
    "competitor": (
        r"\b(?:happy|satisfied)\s+with\s+(?:our|the)\s+(?:current|existing)\s+(?:\w+\s+)?(?:vendor|provider|supplier|solution|tool|system|setup|platform|software|partner)\b|"
        r"\b(?:locked\s+in(?:to)?|under\s+contract)\s+(?:with|to|until|for|a)\b|"
        r"\balready\s+have\s+a(?:nother)?\s+(?:vendor|provider|supplier|contract\s+with)\b|"
        r"\b(?:competitors?|other\s+vendors?|alternatives?)\s+(?:is|are|offers?|quoted|came\s+in)\s+\w*\s*(?:cheaper|less|lower|better)\b|"
        r"\bcheaper\s+(?:elsewhere|alternatives?|option|vendor|quote)\b"
    ),
    "legal": (
        r"\b(?:legal|security|compliance|procurement|infosec)\s+(?:team\s+|department\s+)?(?:won't|will\s+not|would\s+never|will\s+never|doesn't\s+(?:allow|like|approve)|"
        r"(?:has|have|had|raised)\s+(?:\w+\s+)?(?:concerns?|issues?|objections?|problems?)|(?:blocked|rejected|pushed\s+back))\b"
    ),
    "blocker": r"\b(?:deal[- ]?breaker|show[- ]?stopper)\b",
}
#: Also said of the weather: counts only where the call is about buying.
_WHEN_BUYING = {
    "concern": (
        rf"{_WE_ARE}{_VERY}(?:concerned|worried|hesitant|nervous|skeptical|sceptical|not\s+convinced|uncomfortable)\s+(?:about|that|with|by)\b|"
        rf"\b{_MINE}\s+(?:main\s+|biggest\s+|only\s+|big\s+|one\s+|real\s+)*(?:concern|worry|objection|hesitation|reservation)\s+(?:is|here|would|with|about)\b|"
        rf"\b(?:i|we)(?:'ve\s+got|'ve|\s+have|\s+do\s+have)\s+(?:some\s+|a\s+few\s+|serious\s+|big\s+|real\s+|a\s+lot\s+of\s+)*(?:concerns|reservations|doubts)\s+(?:about|with|around)\b|"
        rf"\b(?:the|my|our)\s+(?:main\s+|biggest\s+|only\s+|big\s+|real\s+)*problem\s+(?:is|with)\b"
    ),
    "blocker": (
        r"\bwe\s+(?:can't|cannot|won't\s+be\s+able\s+to|are\s+not\s+able\s+to|aren't\s+able\s+to)\s+"
        r"(?:commit|move\s+forward|proceed|sign|agree|accept|go\s+ahead|switch|do\s+that\s+price|do\s+it\s+at\s+that|use\s+it|use\s+this|migrate|approve)\b"
    ),
    "timing": r"\b(?:too\s+(?:soon|early)\s+for\s+us)\b|\bnot\s+(?:until|before)\s+(?:next\s+(?:year|quarter)|q[1-4])\b",
}
_NAMES = {
    "price": "price", "timing": "timing", "competitor": "another vendor", "legal": "legal or security",
    "blocker": "a blocker", "concern": "a concern",
}  # fmt: skip
_ALWAYS_RULES = [(kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _ALWAYS.items()]
_BUYING_RULES = [(kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _WHEN_BUYING.items()]
_UNSAID = re.compile(
    r"\b(?:if|unless|whether|suppose|imagine|some\s+(?:people|customers|clients)|used\s+to|customers\s+(?:often|sometimes)|"
    r"said|told|was|were|would\s+be|wouldn't|might|could)\b",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"(?:\b(?:not|isn't|aren't|wasn't|never|no\s+longer|don't\s+think|doesn't\s+seem|nothing|hardly)\s+(?:\w+\s+){0,3})$",
    re.IGNORECASE,
)


def objection(sentence: Sentence, *, buying: bool) -> Iterator[ProposedAction]:
    """The objection that the sentence states, at most one; `buying`: the call talks of prices, contracts, vendors."""
    said = sentence.plain
    if "?" in said:
        return
    for kind, rule in _ALWAYS_RULES + (_BUYING_RULES if buying else []):
        match = rule.search(said)
        if match and not _UNSAID.search(said[: match.start()]) and not _DENIED.search(said[: match.start()]):
            yield ProposedAction(
                kind="record_objection",
                text=shortened(f"Objection ({_NAMES[kind]}): {sentence.shown}"),
                quotes=quotes((sentence,)),
            )
            return
