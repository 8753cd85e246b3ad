"""`callfold resume`: the provider is mended, go on at once."""

from typing import Annotated

import typer

from pipeline.cli import arguments, door, screen
from pipeline.stages.resume import resume as resume_stage


def resume(
    profile: Annotated[str, typer.Argument(metavar="PROFILE", help="The profile whose provider is mended.")],
    as_json: arguments.Json = False,
) -> None:
    """Close a profile's breaker and lift its pause."""
    settings = door.settings()
    settings.profile(profile)
    with door.ledger(settings) as ledger:
        resumed = resume_stage(ledger, profile)
    if as_json:
        screen.answer({"profile": profile, "resumed": resumed})
    elif resumed:
        screen.line(f"{profile} goes on: reconcile opens its lanes within seconds")
    else:
        screen.line(f"nothing to resume: the gate of {profile} is open for documents")
