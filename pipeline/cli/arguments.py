"""The arguments that several commands share."""

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON value, for scripts.")]
JobName = Annotated[
    str, typer.Argument(metavar="JOB", help="The job's id, the first six or more characters of it, or its key.")
]
Paths = Annotated[
    list[str],  # a Path would lose a slash of s3://bucket
    typer.Argument(
        metavar="PATH...",
        help="Transcripts, folders and .zip archives of them, tables and .ndjson files of documents, s3:// gs:// az://.",
        show_default=False,
    ),
]
Out = Annotated[Path, typer.Option(metavar="DIR", help="Where the bundle is copied to.")]
Concurrency = Annotated[
    int | None, typer.Option(metavar="N", help="How many documents at once: 8 unless told.", show_default=False)
]
Require = Annotated[
    Literal["any", "all"] | None,
    typer.Option(help="all: one missing call puts its whole group under review.", show_default=False),
]
Account = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The account of all transcripts, else their folder.", show_default=False),
]
Key = Annotated[
    str | None,
    typer.Option(metavar="KEY", help="The idempotency key, else made of the digest.", show_default=False),
]
ProfileName = Annotated[
    str | None, typer.Option("--profile", metavar="NAME", help="How to summarize: extractive unless told.")
]
Deadline = Annotated[
    int | None,
    typer.Option(metavar="SECONDS", help="When open documents expire: a day unless told.", show_default=False),
]
Language = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Of the summaries, such as German or pt-BR: the call's own unless told."),
]
BudgetTokens = Annotated[
    int | None,
    typer.Option(metavar="N", help="What the job's calls may take: no call is begun above it.", show_default=False),
]
BudgetUsd = Annotated[
    float | None,
    typer.Option(metavar="USD", help="The same in US dollars, by the profile's prices.", show_default=False),
]
Strict = Annotated[bool, typer.Option("--strict", help="Exit with 4 when a document has no result.")]


def options(
    *,
    concurrency: Concurrency = None,
    require: Require = None,
    profile: ProfileName = None,
    deadline: Deadline = None,
    language: Language = None,
    budget_tokens: BudgetTokens = None,
    budget_usd: BudgetUsd = None,
) -> dict[str, str | int | float]:
    """The job's options as given: what was not given is not part of the request's digest."""
    given: dict[str, Any] = {
        "concurrency": concurrency,
        "require": require,
        "profile": profile,
        "deadline_seconds": deadline,
        "language": language,
        "budget_tokens": budget_tokens,
        "budget_usd": budget_usd,
    }
    return {name: value for name, value in given.items() if value is not None}


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command with all of a job's options on its command line; it gets them as `options`, as given."""
    asked = signature(options, eval_str=True).parameters
    own = signature(command, eval_str=True).parameters

    @wraps(command)
    def asking(**given: Any) -> None:
        command(options=options(**{name: given.pop(name) for name in asked}), **given)

    parameters = [one for name in own for one in (asked.values() if name == "options" else [own[name]])]
    asking.__signature__ = Signature(  # type: ignore[attr-defined]  # what Typer reads
        [one.replace(kind=Parameter.KEYWORD_ONLY) for one in parameters]
    )
    asking.__annotations__ = {one.name: one.annotation for one in parameters}
    return asking
