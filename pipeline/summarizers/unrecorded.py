"""An attempt that leaves nothing behind: for one document within a caller's patience, outside any job."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from pipeline.domain.results import Usage
from pipeline.errors import ItemFailure
from pipeline.settings import Profile
from pipeline.summarizers.port import CallReport, Demand, Origin, Step


class Unrecorded:
    """Nothing is reserved and nothing kept; `reports` has its calls. It ends after `seconds`."""

    def __init__(self, profile: Profile, seconds: float, number: int = 1) -> None:
        self.number = number
        self.reports: list[tuple[Step, CallReport]] = []
        self._profile = profile
        self._ends = monotonic() + seconds

    @contextmanager
    def call(self, step: Step, demand: Demand | None = None) -> Iterator[CallReport]:
        """As the port says, but that nothing is reserved."""
        now = monotonic()
        if demand is not None and now >= self._ends:
            raise ItemFailure("provider_timeout", "the time for this document was over before all calls were made")
        report = CallReport(len(self.reports) + 1, min(self._ends, now + self._profile.call_seconds))
        self.reports.append((step, report))
        try:
            yield report
        finally:
            report.close(demand, self._profile.prices)

    def writing(self, step: Step, origin: Origin) -> "Draft":  # noqa: ARG002 - nothing was kept of any
        """A text that begins empty."""
        return Draft()

    @property
    def is_over(self) -> bool:
        """Whether its seconds have passed."""
        return monotonic() >= self._ends

    @property
    def usage(self) -> Usage:
        """Of all calls so far."""
        return Usage.total([report.usage for _, report in self.reports])


class Draft:
    """A text in the making that nobody keeps."""

    def __init__(self) -> None:
        self.text = ""
        self.done = False

    def add(self, words: str) -> None:
        """Some more of it has come."""
        self.text += words

    def restart(self) -> None:
        """It is written anew."""
        self.text, self.done = "", False

    def finish(self, progress: int) -> None:  # noqa: ARG002 - nobody is told
        """It is whole."""
        self.done = True
