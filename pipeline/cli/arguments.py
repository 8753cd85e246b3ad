"""The arguments that several commands share."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON value, for scripts.")]
JobName = Annotated[
    str, typer.Argument(metavar="JOB", help="The job's id, the first six or more characters of it, or its key.")
]
Paths = Annotated[
    list[Path],
    typer.Argument(
        metavar="PATH...",
        help="Transcripts (.txt, .vtt, .srt), folders of them, or .ndjson files with one document a line.",
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
    concurrency: int | None = None,
    require: str | None = None,
    profile: str | None = None,
    deadline: int | None = None,
    language: str | None = None,
    budget_tokens: int | None = None,
    budget_usd: float | None = None,
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
