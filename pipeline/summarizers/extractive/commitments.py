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
    (
        r"(?:re)?send (?!you (?:to|for|off|home|down|up)\b)(?!(?:over|out|across|along)\b(?! \w))"
        rf"{_GAP}\b(?:{_PAPER}|{_SOMEONE}|over|out|across|along)\b"
    ),
    rf"(?:e-?mail|forward|ship) {_GAP}\b(?:{_PAPER}|{_SOMEONE}|over|out)\b",
    rf"(?:share|get|bring) (?!to |my screen|the screen|our screen){_GAP}\b{_PAPER}\b",
    r"(?:call|phone|ring|contact) (?:you|him|her|them)\b(?! (?:a|an|the)\b)",
    r"give (?:you|him|her|them) (?:a|another) (?:call|ring|shout|buzz)\b",
    rf"(?:get|come|circle|reach|report) (?:right )?(?:back|out) (?:to|with) {_SOMEONE}\b",
    r"(?:follow|circle) (?:back|up)\b",
    r"(?:touch base|be in touch|get in touch|stay on top of)\b",
    rf"(?:schedule|set up|book|arrange|organi[sz]e) {_GAP}\b{_EVENT}\b",
    r"put (?:something|a \w+|some time|time|it) (?:on|in) (?:the|your|our) (?:calendar|diary)\b",
    (
        rf"(?:check|confirm|verify|double-?check|talk|speak|discuss|sync|review|connect) {_GAP}"
        rf"\b(?:with|to) (?:my|our|the) (?:\w+ )?{_INSIDER}\b"
    ),
    rf"ask (?:my|our|the) (?:\w+ )?{_INSIDER}\b",
    (
        r"have (?:my|our|someone|somebody)\s*(?:\w+ ){0,3}?"
        r"(?:send|call|e-?mail|reach out|get back|follow up|schedule|contact)\b"
    ),
    (
        r"(?:run|take|escalate|pass|bring) (?:it|this|that|the \w+) (?:by|past|to|back to|up with) "
        rf"(?:my|our|the) (?:\w+ )?{_INSIDER}\b"
    ),
    rf"(?:prepare|draft|write up|put together|draw up|revise|finali[sz]e|update|redo) {_GAP}\b{_PAPER}\b",
    rf"(?:create|open|raise|file|submit|log|process) {_GAP}\b{_REQUEST}\b",
    r"look into (?:it|this|that|the|your|those|these)\b",
    r"loop (?:in|\w+ in)\b",
    r"introduce you (?:to|with) (?:my|our)\b",
)
#: Counts only with a time: without one it is talk.
_TIMED = (
    r"(?:have|get) (?!to\b).{1,60}?\b(?:to you|back to you|ready|done|finished|completed?|for you|out)\b",
    rf"(?:get|take|hand) {_GAP}\bto (?:my |our |the )?(?:\w+ )?{_INSIDER}\b",
    r"make sure\b",
    r"(?:send|share|submit|deliver|finish|complete|sign|return|pay|approve|confirm|provide|review|ship|check|update|publish|post)\b",
    rf"(?:let|update) {_SOMEONE}\b",
    r"(?:find out|decide|call)\b",
)
_ADVERBS = (
    r"(?: (?:also|then|just|definitely|certainly|absolutely|personally|make sure to|be sure to|"
    r"go ahead and|still|quickly|gladly|happily|either))*"
)
_WILL = rf"\b(?:i|we)(?:'ll| will| shall|(?:'m| am|'re| are) (?:going to|gonna|gon na)| promise to){_ADVERBS} "
_BARE_WILL = rf"(?:^|^(?:ok|okay|sure|great|yes|yep|yeah|perfect|absolutely),? )will{_ADVERBS} "
_LET_ME = (
    r"\blet me (?=(?:re)?send|e-?mail|forward|follow up|get back|circle back|check with|"
    r"talk to (?:my|our)|confirm with|run (?:it|this|that) by)"
)
_PROMISE = re.compile(
    rf"(?:{_WILL}|{_BARE_WILL}|{_LET_ME})(?P<act>(?P<promised>{'|'.join(_PROMISED)})|(?:{'|'.join(_TIMED)}))",
    re.IGNORECASE,
)

_CONDITION = r"if|unless|whether|suppose|supposing|assuming|imagine|provided"
_DOUBT = r"maybe|perhaps|possibly|probably|hopefully|might|would|could|i guess|i think|i hope|not sure"
_REPORT = r"said|says|saying|told|tells|telling|thought|promised|mentioned|asked|claimed|wrote|heard|was like"
_HABIT = r"usually|sometimes|normally|typically|often|always|whenever|every (?:time|week|month|day)|example|let's say"
_SPOILED_BEFORE = re.compile(rf"\b(?:{_CONDITION}|{_DOUBT}|{_REPORT}|{_HABIT})\b|\blike,?\s*$", re.IGNORECASE)
_SPOILED_AFTER = re.compile(
    rf"\b(?:{_CONDITION}|maybe|perhaps|possibly|probably|hopefully|might|never|usually)\b", re.IGNORECASE
)
_NEGATED = re.compile(r"\b(?:not|never|no|\w+n't|nor|neither|without)\b", re.IGNORECASE)
_AS_SAID = re.compile(r"\b(?:as|like) (?:i|we)?\s*(?:said|mentioned|promised|discussed|agreed),?\s*", re.IGNORECASE)
_POLITE = re.compile(
    r"\bif (?:that's|that is|it's) (?:ok|okay|alright|all right|fine)\b.*|\bif that works\b.*"
    r"|\bif you don't mind\b.*",
    re.IGNORECASE,
)
_ASKS_WHETHER = re.compile(
    r"\b(?:check|see|find out|ask|confirm|know|verify|look into)\b[^,;]*?\b(?:if|whether)\b", re.IGNORECASE
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
        re.search(
            r"\b(?:right now|real quick|quickly|in the chat|on (?:the|my) screen|my screen)\b", act, re.IGNORECASE
        )
    )
