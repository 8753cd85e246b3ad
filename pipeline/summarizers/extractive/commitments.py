"""Follow-ups from what a speaker promises to do: `I'll send the quote by Friday`.

Precision over recall: only `I` and `we`, only verbs that leave something to do after the call, no question, no
hypothetical, no negation, nothing that somebody is said to have said.
"""

import re
from collections.abc import Callable, Iterator

from pipeline.domain.actions import ProposedAction
from pipeline.summarizers.extractive.clauses import clause_after, clause_before
from pipeline.summarizers.extractive.due import due_words
from pipeline.summarizers.extractive.sentences import Sentence
from pipeline.summarizers.extractive.wording import follow_up

_PAPER = (
    r"(?:quotes?|quotation|proposals?|contracts?|invoices?|agreements?|pricing|price list|decks?|slides?|links?|"
    r"e-?mails?|invites?|invitations?|documents?|documentation|docs?|paperwork|forms?|reports?|summar(?:y|ies)|"
    r"minutes|notes|recordings?|details|information|info|materials|case stud(?:y|ies)|order forms?|sow|nda|msa|"
    r"brochures?|samples?|references?|refund|replacement|confirmation|plan|spec|specs|spreadsheets?|one-?pagers?|"
    r"white ?papers?|security questionnaire|statement of work|credentials|log-?ins?|licen[cs]es?|receipts?|options)"
)
_SOMEONE = r"(?:you|your \w+|him|her|them|everyone|everybody|(?:the|our|your) (?:\w+ )?(?:team|group|list))"
_INSIDER = (
    r"(?:team|manager|boss|director|colleagues?|finance|legal|lawyers?|counsel|engineering|engineers?|product|"
    r"procurement|accounting|accountant|supplier|board|committee|department|support|security|leadership|"
    r"management|ceo|cto|cfo|cio|vp|partners?|sales|billing|operations|ops|it|admin|supervisor|warehouse)"
)
_EVENT = (
    r"(?:meetings?|calls?|demos?|sessions?|appointments?|follow[- ]ups?|workshops?|visits?|trials?|pilots?|pocs?|"
    r"proof of concept|technicians?|walk-?throughs?|onboarding|kick-?offs?|trainings?|webinars?|reviews?|"
    r"a time|some time|check-?ins?)"
)
_REQUEST = r"(?:tickets?|cases?|requests?|refunds?|claims?|orders?|exceptions?)"
_GAP = r"(?:(?!\b(?:and|but|because)\b)[^,;]){0,60}?"

#: Something is left to do after the call, whoever says it and whenever.
_PROMISED = (
    rf"(?:re)?send\s+(?!you\s+(?:to|for|off|home|down)\b)(?:{_GAP}\b(?:{_PAPER}|over|out|across|along|you|{_SOMEONE})\b)",
    rf"(?:e-?mail|forward|ship)\s+{_GAP}\b(?:{_PAPER}|{_SOMEONE}|over|out)\b",
    rf"(?:share|get|bring)\s+(?!my screen|the screen|our screen){_GAP}\b{_PAPER}\b",
    r"(?:call|phone|ring)\s+(?:you|him|her|them)\b(?!\s+(?:a|an|the)\b)",
    r"give\s+(?:you|him|her|them)\s+(?:a|another)\s+(?:call|ring|shout|buzz)\b",
    rf"(?:get|come|circle|reach|report)\s+(?:right\s+)?(?:back|out)\s+(?:to|with)\s+{_SOMEONE}\b",
    r"(?:follow|circle)\s+(?:back|up)\b",
    r"(?:touch base|be in touch|get in touch|stay on top of)\b",
    rf"(?:schedule|set\s+up|book|arrange|organi[sz]e)\s+{_GAP}\b{_EVENT}\b",
    r"put\s+(?:something|a\s+\w+|some\s+time|time|it)\s+(?:on|in)\s+(?:the|your|our)\s+(?:calendar|diary)\b",
    rf"(?:check|confirm|verify|double-?check|talk|speak|discuss|sync|review|connect)\s+{_GAP}"
    rf"\b(?:with|to)\s+(?:my|our|the)\s+(?:\w+\s+)?{_INSIDER}\b",
    rf"(?:run|take|escalate|pass|bring)\s+(?:it|this|that|the\s+\w+)\s+(?:by|past|to|back\s+to|up\s+with)\s+"
    rf"(?:my|our|the)\s+(?:\w+\s+)?{_INSIDER}\b",
    rf"(?:prepare|draft|write\s+up|put\s+together|draw\s+up|revise|finali[sz]e|update|redo)\s+{_GAP}\b{_PAPER}\b",
    rf"(?:create|open|raise|file|submit|log|process)\s+{_GAP}\b{_REQUEST}\b",
    r"look\s+into\s+(?:it|this|that|the|your|those|these)\b",
    r"loop\s+(?:in|\w+\s+in)\b",
    r"introduce\s+you\s+(?:to|with)\s+(?:my|our)\b",
)
#: Counts only with a time: without one it is talk.
_TIMED = (
    r"(?:have|get)\s+(?!to\b).{1,60}?\b(?:to\s+you|back\s+to\s+you|ready|done|finished|completed?|for\s+you|out)\b",
    r"(?:send|share|submit|deliver|finish|complete|sign|return|pay|approve|confirm|provide|review|ship|check|update|publish|post)\b",
    rf"(?:let|update)\s+{_SOMEONE}\b",
    r"(?:find\s+out|decide|call)\b",
)
_ADVERBS = (
    r"(?:\s+(?:also|then|just|definitely|certainly|absolutely|personally|make\s+sure\s+to|be\s+sure\s+to|"
    r"go\s+ahead\s+and|still|quickly|gladly|happily|either))*"
)
_WILL = (
    rf"\b(?:i|we)(?:'ll|\s+will|\s+shall|(?:'m|\s+am|'re|\s+are)\s+(?:going\s+to|gonna)|\s+promise\s+to){_ADVERBS}\s+"
)
_BARE_WILL = rf"(?:^|^(?:ok|okay|sure|great|yes|yep|yeah|perfect|absolutely),?\s+)will{_ADVERBS}\s+"
_LET_ME = (
    r"\blet\s+me\s+(?=(?:re)?send|e-?mail|forward|follow\s+up|get\s+back|circle\s+back|check\s+with|"
    r"talk\s+to\s+(?:my|our)|confirm\s+with|run\s+(?:it|this|that)\s+by)"
)
_PROMISE = re.compile(
    rf"(?:{_WILL}|{_BARE_WILL}|{_LET_ME})(?P<act>(?P<promised>{'|'.join(_PROMISED)})|(?:{'|'.join(_TIMED)}))",
    re.IGNORECASE,
)

_CONDITION = r"if|unless|whether|suppose|supposing|assuming|imagine|provided"
_DOUBT = r"maybe|perhaps|possibly|probably|hopefully|might|would|could|i\s+guess|i\s+think|i\s+hope|not\s+sure"
_REPORT = r"said|says|saying|told|tells|telling|thought|promised|mentioned|asked|claimed|wrote|heard|was\s+like"
_HABIT = (
    r"usually|sometimes|normally|typically|often|always|whenever|every\s+(?:time|week|month|day)|example|let's\s+say"
)
_SPOILED_BEFORE = re.compile(rf"\b(?:{_CONDITION}|{_DOUBT}|{_REPORT}|{_HABIT})\b|\blike,?\s*$", re.IGNORECASE)
_SPOILED_AFTER = re.compile(
    rf"\b(?:{_CONDITION}|maybe|perhaps|possibly|probably|hopefully|might|never|usually)\b", re.IGNORECASE
)
_NEGATED = re.compile(r"\b(?:not|never|no|\w+n't|nor|neither|without)\b", re.IGNORECASE)
_AS_SAID = re.compile(r"\b(?:as|like)\s+(?:i|we)?\s*(?:said|mentioned|promised|discussed|agreed),?\s*", re.IGNORECASE)
_POLITE = re.compile(
    r"\bif\s+(?:that's|that\s+is|it's)\s+(?:ok|okay|alright|all\s+right|fine)\b.*|\bif\s+that\s+works\b.*"
    r"|\bif\s+you\s+don't\s+mind\b.*",
    re.IGNORECASE,
)
_ASKS_WHETHER = re.compile(
    r"\b(?:check|see|find\s+out|ask|confirm|know|verify|look\s+into)\b[^,;]*?\b(?:if|whether)\b", re.IGNORECASE
)


def commitments(sentence: Sentence, owner_of: Callable[[str | None], str | None]) -> Iterator[ProposedAction]:
    """The follow-ups that the sentence promises, each with its owner and the words that say when."""
    said = sentence.plain
    if "?" in said:
        return
    for match in _PROMISE.finditer(said):
        act = clause_after(said, match.start("act"), match.end("act"))
        due = due_words(act)
        if (due or match["promised"]) and not _spoiled(said, match.start(), match.start("act"), act):
            yield follow_up(owner_of(sentence.speaker), act, due, (sentence,))


def _spoiled(said: str, start: int, act_start: int, act: str) -> bool:
    before = _AS_SAID.sub("", said[:start])
    after = _ASKS_WHETHER.sub("", _POLITE.sub("", said[act_start:]))
    return bool(
        _SPOILED_BEFORE.search(before)
        or _NEGATED.search(clause_before(before))
        or _SPOILED_AFTER.search(after)
        or _in_the_call(act)
    )


def _in_the_call(act: str) -> bool:
    """What is done while people are still talking leaves nothing to follow up."""
    return bool(
        re.search(r"\b(?:right now|real quick|in the chat|on (?:the|my) screen|my screen)\b", act, re.IGNORECASE)
    )
