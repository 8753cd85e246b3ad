"""Estimate: what a batch would take with a profile, before any call: tokens, money and time.

    read as submit does | limit and plan of each document | what the profile's calls took before | sums

Input and caps are counted as the calls would be. What a model will answer nobody knows: the ledger's own calls say it,
or an assumption that is named.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Final

from pipeline.domain.costs import dollars
from pipeline.domain.documents import IncomingDocument, Transcript
from pipeline.errors import ItemFailure, Problem
from pipeline.ledger.measures import StepMeasures
from pipeline.settings import Profile, Settings
from pipeline.stages.submit import accepted
from pipeline.summarizers.port import Demand, Step
from pipeline.summarizers.registry import Plan, planned
from pipeline.summarizers.tokens import within_limit

#: Of a call's cap, where no calls of the profile are known.
ASSUMED_OUTPUT: Final = 0.5
#: For calls that are made again: a suggested budget holds so much more than each call once, with its cap.
_AGAIN: Final = 1.1


@dataclass(frozen=True, slots=True)
class Tokens:
    """`output_expected` of at most `output_cap`."""

    input: int
    output_expected: int
    output_cap: int


@dataclass(frozen=True, slots=True)
class Money:
    """US dollars; `most` if each call came to its cap, none is cached and none is made again."""

    expected: float
    most: float


@dataclass(frozen=True, slots=True)
class Time:
    """Seconds. `expected` None: no latency is known; `at_least` by the declared rates, 0 where there are none."""

    expected: float | None
    at_least: float
    #: of one call, the median
    latency: float | None


@dataclass(frozen=True, slots=True)
class Budget:
    """What holds every call once with its cap, and a tenth of them again."""

    tokens: int
    usd: float | None


@dataclass(frozen=True, slots=True)
class Estimate:
    """`documents` are worked on; `faults` counts the others by their codes. `known_calls` told what to expect."""

    documents: int
    faults: dict[str, int]
    calls: int
    tokens: Tokens
    money: Money | None
    time: Time
    known_calls: int
    budget: Budget


def estimate(
    settings: Settings,
    profile: str,
    documents: Iterable[IncomingDocument | Problem],
    *,
    language: str | None,
    concurrency: int,
    known: Mapping[str, StepMeasures],
    latency: float | None = None,
) -> Estimate:
    """What the batch would take. `known`: what calls of the profile took before; `latency` of a call, in seconds.

    Raises NotFound for an unknown profile, InvalidRequest where submit would.
    """
    chosen, faults, plans = settings.profile(profile), Counter[str](), list[Plan]()
    for document, _ in accepted(documents):
        if document.fault is not None:
            faults[document.fault.code] += 1
        elif document.transcript is not None:
            try:
                plans.append(_plan(settings, chosen, document, document.transcript, language))
            except ItemFailure as failed:
                faults[failed.error_code] += 1
    calls = [call for plan in plans for call in plan]
    tokens = _tokens(calls, known)
    return Estimate(
        documents=len(plans),
        faults=dict(sorted(faults.items())),
        calls=len(calls),
        tokens=tokens,
        money=_money(chosen, tokens),
        time=_time(chosen, plans, concurrency, known, latency),
        known_calls=sum(step.calls for step in known.values()),
        budget=_budget(chosen, tokens),
    )


def _plan(
    settings: Settings, profile: Profile, document: IncomingDocument, transcript: Transcript, language: str | None
) -> Plan:
    within_limit(transcript, profile, settings.vocabularies)
    return planned(transcript, document.fields, language, profile, settings.vocabularies)


def _tokens(calls: Plan, known: Mapping[str, StepMeasures]) -> Tokens:
    return Tokens(
        input=sum(demand.input_tokens for _, demand in calls),
        output_expected=round(sum(_output(step, demand, known) for step, demand in calls)),
        output_cap=sum(demand.output_tokens for _, demand in calls),
    )


def _output(step: Step, demand: Demand, known: Mapping[str, StepMeasures]) -> float:
    usual = known[step.name].output_tokens if step.name in known else None
    return demand.output_tokens * ASSUMED_OUTPUT if usual is None else min(usual, demand.output_tokens)


def _money(profile: Profile, tokens: Tokens) -> Money | None:
    if not tokens.input + tokens.output_cap:
        return Money(0.0, 0.0)
    if profile.prices is None:
        return None
    return Money(
        dollars(profile.prices, tokens.input, tokens.output_expected),
        dollars(profile.prices, tokens.input, tokens.output_cap),
    )


def _time(
    profile: Profile, plans: Sequence[Plan], concurrency: int, known: Mapping[str, StepMeasures], latency: float | None
) -> Time:
    """The lanes share the work, a document's calls come one after the other, and no rate is exceeded."""
    calls = [call for plan in plans for call in plan]
    usual = latency if latency is not None else _usual(known)
    at_least = max(_by_requests(profile, len(calls)), _by_tokens(profile, calls))
    if usual is None:
        return Time(None, at_least, None)

    def seconds(step: Step) -> float:
        return known[step.name].latency_seconds if latency is None and step.name in known else usual

    documents = [sum(seconds(step) for step, _ in plan) for plan in plans]
    shared = sum(documents) / max(1, min(concurrency, len(documents)))
    return Time(max(shared, max(documents, default=0.0), at_least), at_least, usual)


def _usual(known: Mapping[str, StepMeasures]) -> float | None:
    calls = sum(step.calls for step in known.values())
    return sum(step.calls * step.latency_seconds for step in known.values()) / calls if calls else None


def _by_requests(profile: Profile, calls: int) -> float:
    return 60.0 * calls / profile.requests_per_minute if profile.requests_per_minute else 0.0


def _by_tokens(profile: Profile, calls: Plan) -> float:
    demanded = sum(demand.input_tokens + demand.output_tokens for _, demand in calls)
    return 60.0 * demanded / profile.tokens_per_minute if profile.tokens_per_minute else 0.0


def _budget(profile: Profile, tokens: Tokens) -> Budget:
    most = _money(profile, tokens)
    return Budget(
        tokens=ceil(_rounded_up((tokens.input + tokens.output_cap) * _AGAIN)),
        usd=None if most is None else _rounded_up(most.most * _AGAIN),
    )


def _rounded_up(number: float) -> float:
    """To two digits."""
    if number <= 0:
        return 0.0
    unit = 10.0 ** (floor(log10(number)) - 1)
    return round(ceil(number / unit) * unit, 10)
