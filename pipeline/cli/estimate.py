"""`callfold estimate`: what a batch would take, before any of it is spent."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from math import ceil
from typing import Annotated

import typer

from pipeline.cli import arguments, door, screen
from pipeline.domain import options as job_options
from pipeline.errors import SchemaMismatch
from pipeline.ledger import measures
from pipeline.ledger.measures import StepMeasures
from pipeline.settings import Settings
from pipeline.stages.estimate import ASSUMED_OUTPUT, Estimate
from pipeline.stages.estimate import estimate as estimate_stage
from pipeline.transcripts.batch import read_paths

Latency = Annotated[
    float | None,
    typer.Option(metavar="SECONDS", min=0.001, help="Of one call: as in the ledger unless told.", show_default=False),
]


def estimate(
    paths: arguments.Paths,
    profile: arguments.ProfileName = None,
    concurrency: arguments.Concurrency = None,
    language: arguments.Language = None,
    latency: Latency = None,
    account: arguments.Account = None,
    as_json: arguments.Json = False,
) -> None:
    """Say what documents would take with a profile: calls, tokens, money and time. Nothing is called or stored."""
    settings = door.settings()
    given = arguments.options(concurrency=concurrency, profile=profile, language=language)
    asked = job_options.parse(given)
    settings.profile(asked.profile)
    found = estimate_stage(
        settings,
        asked.profile,
        read_paths(paths, account),
        language=asked.language,
        concurrency=asked.concurrency,
        known=known_calls(settings, asked.profile),
        latency=latency,
    )
    if as_json:
        screen.answer({"profile": asked.profile, "concurrency": asked.concurrency, **asdict(found)})
        return
    for line in _lines(found, asked.profile, asked.concurrency, given_latency=latency is not None):
        screen.line(line)


def known_calls(settings: Settings, profile: str) -> Mapping[str, StepMeasures]:
    """What calls of the profile took before, as the ledger knows; nothing where there is none that this code reads."""
    if not door.has_ledger(settings):
        return {}
    try:
        with door.ledger(settings) as ledger, ledger.statement() as tx:
            return measures.of_profile(tx, profile)
    except SchemaMismatch:  # not migrated yet: an estimate does not change a ledger
        return {}


def _lines(found: Estimate, profile: str, concurrency: int, *, given_latency: bool) -> Iterator[str]:
    yield f"documents: {found.documents}{_faults(found)}"
    tokens = found.tokens
    yield (
        f"calls: {found.calls:,}, with {tokens.input:,} tokens in and {tokens.output_expected:,} out, "
        f"at most {tokens.output_cap:,} out"
    )
    yield f"money: {_money(found)}"
    yield f"time: {_time(found, concurrency, given_latency=given_latency)}"
    if not tokens.output_cap:
        return
    if found.known_calls:
        yield f"as {found.known_calls:,} calls of {profile} went before"
    else:
        yield f"no call of {profile} is known yet: {ASSUMED_OUTPUT:.0%} of each call's cap is assumed as its output"
    usd = f" or --budget-usd {found.budget.usd:g}" if found.budget.usd else ""
    yield f"--budget-tokens {found.budget.tokens}{usd} holds each call once with its cap, and a tenth of them again"


def _faults(found: Estimate) -> str:
    faults = ", ".join(f"{number} {code}" for code, number in found.faults.items())
    return f", and {sum(found.faults.values())} that fail before any call: {faults}" if faults else ""


def _money(found: Estimate) -> str:
    if found.money is None:
        return "unknown: the profile has no prices"
    return f"{found.money.expected:,.2f} USD, at most {found.money.most:,.2f} USD with each call made once"


def _time(found: Estimate, concurrency: int, *, given_latency: bool) -> str:
    rates = f"at least {_duration(found.time.at_least)} by the declared rates" if found.time.at_least else ""
    if found.time.expected is None or found.time.latency is None:
        return "unknown: no call's latency is known, give --latency" + (f"; {rates}" if rates else "")
    source = "given" if given_latency else "the median so far"
    calls = f"{found.time.latency:.2f} s a call ({source})"
    return f"{_duration(found.time.expected)} at concurrency {concurrency}, {calls}" + (f"; {rates}" if rates else "")


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(ceil(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}"
