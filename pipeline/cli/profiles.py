"""`callfold profiles`: how documents can be summarized here, and whether each way works."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Annotated, Any

import typer

from pipeline.cli import arguments, door, screen
from pipeline.settings import Profile

profiles = typer.Typer(name="profiles", add_completion=False)

Name = Annotated[str | None, typer.Argument(metavar="[NAME]", help="One profile, else all.", show_default=False)]


@profiles.callback(invoke_without_command=True)
def listing(context: typer.Context, as_json: arguments.Json = False) -> None:
    """List the profiles: summarizer, model, limits, rates and prices. `check` tries them."""
    if context.invoked_subcommand is not None:
        return
    found = door.settings().all_profiles
    if as_json:
        screen.answer([_value(name, profile) for name, profile in found.items()])
        return
    headings = ("profile", "summarizer", "model", "at", "key", "document", "call", "a minute", "USD a million")
    screen.table(headings, (_row(name, profile) for name, profile in found.items()))


@profiles.command()
def check(name: Name = None, as_json: arguments.Json = False) -> None:
    """Make two tiny calls with each profile and say what is wrong. Exits with 1 when anything is."""
    from pipeline.stages.check_profile import check_profile  # noqa: PLC0415 - the client takes a second to import

    settings = door.settings()
    names = list(settings.all_profiles) if name is None else [name]
    checked = [check_profile(settings, name) for name in names]
    if as_json:
        screen.answer([asdict(found) for found in checked])
    for found in () if as_json else checked:
        screen.line(f"{found.profile}: {'ok' if found.ok else 'WRONG'}: {found.state}{_then(found.to_do)}")
    if not all(found.ok for found in checked):
        raise typer.Exit(1)


def _then(to_do: str | None) -> str:
    return f"; {to_do}" if to_do else ""


def _value(name: str, profile: Profile) -> dict[str, Any]:
    shown = profile.model_dump(exclude={"api_key"})
    return {"profile": name, **shown, "base_url": profile.address, "has_key": profile.api_key is not None}


def _row(name: str, profile: Profile) -> Iterator[object]:
    yield from (name, profile.summarizer, profile.model, profile.address)
    yield "set" if profile.api_key else None
    yield f"{profile.max_input_tokens:,} tokens"
    if profile.summarizer != "openai_chat":
        return
    yield f"{profile.context_tokens:,}, {profile.output_tokens:,} of it out"
    yield ", ".join(_rates(profile)) or "no declared rate"
    prices = profile.prices
    yield f"{prices.input:g} in, {prices.output:g} out" if prices else "unknown"


def _rates(profile: Profile) -> Iterator[str]:
    if profile.requests_per_minute:
        yield f"{profile.requests_per_minute:,g} calls"
    if profile.tokens_per_minute:
        yield f"{profile.tokens_per_minute:,g} tokens"
