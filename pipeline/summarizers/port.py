"""The port: what every summarizer is asked, what it may answer, and what it may ask of the attempt that it works in.

Success is a valid Summary. Anything else is an ItemFailure whose code is in the table of `domain.failure` and
whose detail is our own sentence, never the model's or the transcript's. Many threads call one summarizer at once.
"""

from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from time import monotonic
from typing import Final, Protocol, TypeVar

from pipeline.domain.costs import NEVER_READ, NOTHING, priced
from pipeline.domain.documents import DocumentFields, Transcript
from pipeline.domain.failure import POLICIES
from pipeline.domain.results import Summary, Usage
from pipeline.errors import ItemFailure
from pipeline.settings import Prices

_Answer = TypeVar("_Answer")

UNKNOWN: Final = Usage()
#: How often one answer is asked for in one attempt, whatever is wrong with it each time.
_MOST_CALLS: Final = 4


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """One document to be summarized."""

    fields: DocumentFields
    transcript: Transcript
    #: The language the summary should be in, as the job's option names it; None: the transcript's own.
    language: str | None
    #: Of the transcript, by the profile's tokenizer; 0 where nobody needed to know.
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Step:
    """What a call is for: the step's name, which chunk of it (0 where there is one), and which words it covers.

    `covers` is `first turn:character-last turn:character`, the last one exclusive; None where it reads no transcript.
    """

    name: str
    chunk: int = 0
    covers: str | None = None


@dataclass(frozen=True, slots=True)
class Demand:
    """What a call to a provider may take: its input as we count it, and the cap of its output. In tokens."""

    input_tokens: int
    output_tokens: int


@dataclass(slots=True)
class CallReport:
    """What a call tells of itself while it is under way. Usage that nobody reported stays unknown.

    `ends` is the wall clock of this call on this process's monotonic clock. `has_ended`: the provider said how its
    answer ended, well or not; else it broke off. `condition` is finer than an error code (the table of the provider's
    conditions), the rest is the provider's own word.
    """

    sequence: int
    ends: float
    usage: Usage = UNKNOWN
    has_ended: bool = False
    condition: str | None = None
    request_id: str | None = None
    model: str | None = None
    service_tier: str | None = None
    system_fingerprint: str | None = None

    @property
    def seconds(self) -> float:
        """What is left of its wall clock; 0 once that is over."""
        return max(0.0, self.ends - monotonic())

    def close(self, demand: Demand | None, prices: Prices | None) -> None:
        """Put money on the usage; a call to a provider that told none counts as unknown, unless it was never read."""
        if self.usage.input_tokens is None and self.model is None and self.condition in NEVER_READ:
            self.usage = NOTHING
        if demand is not None and self.usage.input_tokens is None:
            self.usage = self.usage.model_copy(update={"unknown_calls": 1})
        self.usage = priced(self.usage, prices)


@dataclass(frozen=True, slots=True)
class Origin:
    """What a text was made of and by what. A checkpoint of any other origin is ignored.

    `input_sha256` is of what the model read, `parameters` canonical JSON.
    """

    input_sha256: str
    prompt_version: str
    model: str
    parameters: str
    seed: int | None = None


class Writing(Protocol):
    """A text in the making. What an earlier attempt left of it is there from the start.

    It is kept as a checkpoint now and then, shown to whoever watches, and forgotten once the item has settled.
    """

    @property
    def text(self) -> str:
        """What is there: up to the last whole sentence where an earlier attempt broke off, all of it once `done`."""

    @property
    def done(self) -> bool:
        """Whether it is whole, and nothing is to be paid for it again."""

    def add(self, words: str) -> None:
        """Some more of it has come."""

    def restart(self) -> None:
        """What is there is no good: it is written anew."""

    def finish(self, progress: int) -> None:
        """It is whole. `progress`: how far the document is with it, 0 to 99 percent."""


class Attempt(Protocol):
    """What a summarizer asks of the attempt that it works in."""

    #: Of the item, from 1.
    number: int

    def call(self, step: Step, demand: Demand | None = None) -> AbstractContextManager[CallReport]:
        """One call: with a demand, its place in the profile's rates and the job's budget is reserved before it.

        The block's ItemFailure is the call's. Raises GivenBack where there is no place for it now, and ItemFailure:
        `budget_exhausted` where there never will be.
        """

    def writing(self, step: Step, origin: Origin) -> Writing:
        """The step's text, as far as an earlier attempt of the same origin came with it."""


class Summarizer(Protocol):
    """Turns one transcript into one Summary."""

    name: str

    def summarize(self, request: SummaryRequest, attempt: Attempt) -> Summary:
        """Return a valid Summary or raise ItemFailure, or what the attempt raised; nothing else."""
        ...


def regenerated(ask: Callable[[str | None], _Answer]) -> _Answer:
    """Ask; where the answer does not hold, again with the problem named.

    As often as its code allows: each code has its own tries, and all of them together end after four.
    """
    problem, failures = None, Counter[str]()
    while True:
        try:
            return ask(problem)
        except ItemFailure as failed:
            failures[failed.error_code] += 1
            if failures[failed.error_code] >= POLICIES[failed.error_code].calls or failures.total() >= _MOST_CALLS:
                raise
            problem = failed.detail
