"""`callfold verify`: is a bundle whole, does it agree with itself, and were its quotes said? Needs nothing else."""

from pathlib import Path
from typing import Annotated

import typer

from exports.verify import verify as verify_bundle
from pipeline.cli import arguments, door, screen
from pipeline.domain.documents import Transcript
from pipeline.errors import Problem, Problems
from pipeline.transcripts.batch import read_paths

Bundle = Annotated[Path, typer.Argument(metavar="BUNDLE", help="The bundle's folder.", show_default=False)]
Transcripts = Annotated[
    list[str] | None,
    typer.Argument(metavar="[PATH...]", help="Its transcripts, to check the quotes too.", show_default=False),
]


Prefix = Annotated[
    str,
    typer.Option(help="What the bundle's document ids begin with: NAME/DATE/ for a nightly run.", metavar="TEXT"),
]


def verify(bundle: Bundle, paths: Transcripts = None, prefix: Prefix = "", as_json: arguments.Json = False) -> None:
    """Check a bundle offline; with its transcripts, every quote as well."""
    door.settings()
    verified = verify_bundle(bundle, _transcripts(paths, prefix) if paths else None)
    if as_json:
        screen.answer(verified._asdict())
        return
    quotes = f"{verified.quotes} quotes found" if paths else "quotes not checked: no transcripts given"
    screen.line(f"{bundle} is whole: {verified.rows} rows, {verified.actions} merged actions, {quotes}")


def _transcripts(paths: list[str], prefix: str) -> dict[str, Transcript]:
    found: dict[str, Transcript] = {}
    problems = Problems()
    for document in read_paths(paths, id_prefix=prefix):
        if isinstance(document, Problem):
            problems.add(document)
        elif document.transcript is not None:
            found[document.fields.document_id] = document.transcript
    if problems:
        raise problems.error()
    return found
