"""Actions from what was said: commitments, accepted requests, objections, and the last signal of a stage."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from pipeline.domain.actions import ProposedAction
from pipeline.domain.documents import Transcript
from pipeline.domain.speakers import owner_finder
from pipeline.summarizers.extractive.commitments import commitments
from pipeline.summarizers.extractive.objections import objection
from pipeline.summarizers.extractive.requests import accepted_request
from pipeline.summarizers.extractive.sentences import Sentence
from pipeline.summarizers.extractive.stages import stage_signal
from pipeline.summarizers.extractive.wording import is_evidence

# Not price, budget, customer or demo: meetings of every kind talk of those.
_BUYING = re.compile(
    r"\b(pricing|quote|contract|proposal|vendor|licen[cs]e|subscription|trial|purchase order|invoice|discount|renewal|"
    r"procurement|pilot|competitor|per seat|roi|order form|your (?:product|platform|solution|software|offer))s?\b",
    re.IGNORECASE,
)
#: Different words of buying that make a call one about a purchase.
_ENOUGH = 2
_MOST_QUOTES = 5


def find_actions(transcript: Transcript, sentences: Sequence[Sentence]) -> tuple[ProposedAction, ...]:
    """Every action of an English call, in call order, none twice; at most one stage, the last that was signalled."""
    owner_of = owner_finder(transcript.turns)
    whole = [sentence for sentence in sentences if sentence.whole]
    evident = [sentence for sentence in whole if is_evidence(sentence)]
    buying = _is_about_buying(evident)
    found = [action for sentence in evident for action in commitments(sentence, owner_of)]
    found += [action for action in _accepted_requests(whole, owner_of) if action.quotes]
    found += [action for sentence in evident for action in objection(sentence, buying=buying)]
    found += [action for sentence in evident for action in stage_signal(sentence)][-1:]
    return tuple(sorted(_united(found), key=lambda action: action.quotes[0].turn or 0))


def _is_about_buying(sentences: Sequence[Sentence]) -> bool:
    words = {word.lower() for sentence in sentences for word in _BUYING.findall(sentence.plain)}
    return len(words) >= _ENOUGH


def _accepted_requests(
    sentences: Sequence[Sentence], owner_of: Callable[[str | None], str | None]
) -> Iterator[ProposedAction]:
    for asked, answer in pairwise(sentences):
        action = accepted_request(asked, answer, owner_of)
        # An answer that promises in its own words is a commitment already.
        if action is not None and not any(commitments(answer, owner_of)):
            yield action


def _united(actions: Sequence[ProposedAction]) -> list[ProposedAction]:
    """Equal actions become one with the first quotes of all."""
    first: dict[tuple[str, str | None, str], ProposedAction] = {}
    for action in actions:
        key = (action.kind, action.owner, action.text.casefold())
        known = first.setdefault(key, action)
        if known is not action:
            more = tuple(quote for quote in action.quotes if quote not in known.quotes)
            first[key] = known.model_copy(update={"quotes": (known.quotes + more)[:_MOST_QUOTES]})
    return list(first.values())
