"""The port: what every summarizer is asked and what it may answer.

Success is a valid Summary. Anything else is an ItemFailure whose code is in the table of `domain.failure` and
whose detail is our own sentence, never the model's or the transcript's. Many threads call one at once.
"""

from dataclasses import dataclass
from typing import Protocol

from pipeline.domain.documents import DocumentFields, Transcript
from pipeline.domain.results import Summary


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """One call for one document."""

    fields: DocumentFields
    transcript: Transcript
    #: The language the summary should be in, as the job's option names it; None: the transcript's own.
    language: str | None
    #: Of the item, from 1.
    attempt_number: int
    #: Within the attempt, from 1.
    call_sequence: int
    #: What was wrong with the previous call's output in this attempt, in our words.
    problem: str | None
    #: Wall clock left for this call.
    deadline_seconds: float


class Summarizer(Protocol):
    """Turns one transcript into one Summary."""

    name: str

    def summarize(self, request: SummaryRequest) -> Summary:
        """Return a valid Summary or raise ItemFailure; nothing else."""
        ...
