"""`callfold summarize`: one short document, answered while one waits, and nothing kept of it."""

from typing import Annotated

import typer

from pipeline.cli import arguments, document, door, failures, screen
from pipeline.domain import options as job_options
from pipeline.domain.documents import IncomingDocument
from pipeline.domain.results import ItemResult
from pipeline.errors import InvalidRequest, Problem
from pipeline.stages.summarize_inline import summarize_inline
from pipeline.transcripts.batch import read_paths

File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="A transcript, or a .ndjson file with one document.",
        show_default=False,
    ),
]
Within = Annotated[float, typer.Option(metavar="SECONDS", min=0.001, help="How long the answer may take.")]


def summarize(
    file: File,
    within: Within = 60.0,
    account: arguments.Account = None,
    profile: arguments.ProfileName = None,
    language: arguments.Language = None,
    as_json: arguments.Json = False,
) -> None:
    """Summarize one document now, without a job: nothing is stored, shared or tried again.

    Exits with 4 where it has no result, with 5 where it needs a job.
    """
    settings = door.settings()
    asked = job_options.parse(arguments.options(profile=profile, language=language))
    one = _only(file, account)
    result = summarize_inline(settings, asked.profile, one, within, language=asked.language)
    if as_json:
        screen.answer(result)
    else:
        _print(result)
    if result.state != "succeeded":
        raise typer.Exit(failures.NO_RESULT)


def _only(file: str, account: str | None) -> IncomingDocument:
    found = list(zip(read_paths([file], account), range(2), strict=False))
    documents = [document for document, _ in found]
    problems = [document for document in documents if isinstance(document, Problem)]
    if problems:
        raise InvalidRequest(problems)
    match documents:
        case [IncomingDocument() as only]:
            return only
        case _:
            raise InvalidRequest([Problem(file, "holds no single document: `callfold run` takes as many as you have")])


def _print(result: ItemResult) -> None:
    if result.summary is None:
        screen.line(f"{result.document_id}: {result.error_code}: {result.error_detail}")
        return
    used = result.usage
    cost = f", {used.cost_usd:.4f} USD" if used.cost_usd else ""
    tokens = f", {used.input_tokens} tokens in, {used.output_tokens} out" if used.input_tokens else ""
    screen.line(f"{result.document_id}, by {result.model}{tokens}{cost}")
    document.show(result.summary, (action.model_dump() for action in result.actions or ()))
