"""One attempt as its summarizer sees it: calls that are reserved, written and timed, texts that survive a crash.

call      a place in the declared rates | the job's budget, and the call's row | the request | what it took
writing   what an earlier attempt left | checkpoints as it grows | whole
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from time import monotonic, sleep
from typing import Final

import structlog

from pipeline.domain.costs import dollars
from pipeline.domain.results import Usage
from pipeline.errors import GivenBack, ItemFailure, LedgerError
from pipeline.ledger import attempts, budgets, checkpoints, gates
from pipeline.ledger.attempts import Call
from pipeline.ledger.budgets import Opened
from pipeline.ledger.checkpoints import Checkpoint, Kept
from pipeline.ledger.connection import together
from pipeline.ledger.items import Started
from pipeline.settings import Profile
from pipeline.stages.bench import Bench
from pipeline.stages.keeper import Manuscript, Pen
from pipeline.summarizers.port import CallReport, Demand, Origin, Step, Writing

log = structlog.get_logger(__name__)

#: How long a call waits in its slot, and its document outside, for the calls of others that may leave something of the
#: budget, in seconds.
_BUDGET_PAUSES: Final = (0.2, 0.4, 0.8)
_LONGEST_BUDGET_WAIT: Final = 60.0


class LedgerAttempt:
    """The port's Attempt on the ledger. `tokens` of the transcript count for calls that make no demand of their own."""

    def __init__(self, bench: Bench, started: Started, profile: Profile, tokens: int) -> None:
        self.number = started.number
        #: those that have ended
        self.calls: list[Call] = []
        self._bench, self._started, self._profile, self._tokens = bench, started, profile, tokens
        self._began = monotonic()
        self._ends = self._began + started.seconds
        self._expires = self._began + (started.expires_at - started.started_at).total_seconds()
        self._pen = Pen(started.job_id, started.position, started.attempt_id)
        self._texts: dict[tuple[Step, Origin], Manuscript] = {}
        self._recorded = 0
        self._found: list[Checkpoint] | None = None

    @contextmanager
    def call(self, step: Step, demand: Demand | None = None) -> Iterator[CallReport]:
        """See the port."""
        if demand is not None:
            self._leave_time_for_it()
        self._wait_for_a_place(demand)
        call = self._next(step, demand)
        if demand is not None:
            self._open(call)
        sent = monotonic()
        # What would come after the job's deadline is nobody's, and would be paid for.
        ends = self._ends if demand is None else min(self._ends, self._expires)
        report = CallReport(call.sequence, min(ends, sent + self._profile.call_seconds))
        code: str | None = "internal_error"
        try:
            yield report
            code = None
        except ItemFailure as failed:
            code = failed.error_code
            raise
        finally:
            report.close(demand, self._profile.prices)
            self.calls.append(_ended(call, report, code, monotonic() - sent))

    def _next(self, step: Step, demand: Demand | None) -> Call:
        call = Call(
            sequence=len(self.calls) + 1,
            step=step.name,
            chunk=step.chunk,
            covers=step.covers,
            latency_seconds=None,
            began_seconds=monotonic() - self._began,
        )
        if demand is None:
            return call
        prices = self._profile.prices
        usd = None if prices is None else dollars(prices, demand.input_tokens, demand.output_tokens)
        return replace(call, reserved_tokens=demand.input_tokens + demand.output_tokens, reserved_usd=usd)

    def writing(self, step: Step, origin: Origin) -> Writing:
        """See the port."""
        if (step, origin) not in self._texts:
            self._texts[step, origin] = Manuscript(
                self._pen, step, origin, self._checkpoint(step, origin), keep=self._keep_now, show=self._bench.show
            )
        text = self._texts[step, origin]
        if not text.done:
            self._bench.keeper.watch(text)
        return text

    def end(self) -> None:
        """It writes no more: what was new in a text that broke off is kept for the next attempt."""
        text = self._bench.keeper.forget(self._started.attempt_id)
        if text is None:
            return
        try:
            self._keep(text, self._bench.settings.lease_seconds)
        except LedgerError as error:
            # Not worth another outcome: the next attempt goes on from the checkpoint before.
            log.warning("attempt.not_kept", attempt_id=str(self._started.attempt_id), error=error.code)

    @property
    def usage(self) -> Usage:
        """What its calls took so far."""
        return Usage.total(call.usage() for call in self.calls)

    def _leave_time_for_it(self) -> None:
        """A document goes back between two calls, and no call is sent that can only time out.

        The next attempt goes on where this one ends.
        """
        if self._bench.ending():
            raise GivenBack("its worker ends")
        left = self._ends - monotonic()
        if self.calls and left < min(self._profile.call_seconds, self._started.seconds / 2):
            raise GivenBack("the attempt's time does not hold another call")
        if left <= 0:
            raise ItemFailure("provider_timeout", "the attempt's time was over before its first call had ended")

    def _wait_for_a_place(self, demand: Demand | None) -> None:
        """Reserve the call's place in the declared rates and sleep until it comes, two seconds at most."""
        requests, allowed = self._profile.requests_per_minute, self._profile.tokens_per_minute
        if requests is None and allowed is None:
            return
        tokens = self._tokens if demand is None else demand.input_tokens + demand.output_tokens
        request = 60.0 / requests if requests else 0.0
        share = tokens * 60.0 / allowed if allowed else 0.0
        wait = self._bench.patience()(self._reserve, request, share)
        if wait is None:
            raise GivenBack(f"the declared rate of profile {self._started.profile!r} is used up")
        sleep(wait)

    def _reserve(self, request: float, tokens: float) -> float | None:
        with self._bench.ledger.statement() as tx:
            return gates.reserve(tx, self._started.profile, request, tokens)

    def _open(self, call: Call) -> None:
        """Write the call before it is sent. Short of budget, wait a moment for what others' calls may leave."""
        started = self._started
        opened: Opened = "later"
        for pause in _BUDGET_PAUSES:
            opened = self._bench.patience()(self._open_once, call)
            if opened != "later":
                break
            sleep(pause)
        match opened:
            case "later":
                raise GivenBack("other calls hold what is left of the job's budget", self._backoff())
            case "spent":
                raise ItemFailure("budget_exhausted", "what is left of the job's budget does not hold the next call")
            case "overtaken":
                raise GivenBack("the item is no longer this attempt's, or its job was cancelled")
            case "unpriced":
                log.error("attempt.no_prices", profile=started.profile, job_id=str(started.job_id))
                raise ItemFailure(
                    "budget_exhausted",
                    "the job has a budget in US dollars, and its profile no prices where this worker runs: set them",
                )

    def _backoff(self) -> float:
        """Longer each time: all of a job's documents may wait for one long call."""
        before = self._started.number - 1 - self._started.charged
        return min(_LONGEST_BUDGET_WAIT, 2.0 ** min(before, 6))

    def _open_once(self, call: Call) -> Opened:
        started = self._started
        self._record()
        with self._bench.ledger.transaction() as tx:
            return budgets.open_call(tx, started.job_id, started.position, started.attempt_id, call)

    def _record(self) -> None:
        """Write the calls that have ended: what they did not take is there for others."""
        unrecorded = self.calls[self._recorded :]
        if unrecorded:
            with self._bench.ledger.statement() as tx:
                attempts.record_calls(tx, self._started.attempt_id, unrecorded)
            self._recorded += len(unrecorded)

    def _checkpoint(self, step: Step, origin: Origin) -> Checkpoint | None:
        """What an earlier attempt left of this very text, of this job or of the one that it amends."""
        if self._found is None:
            self._found = self._bench.patience()(self._read_checkpoints)
        for found in self._found:
            made_of = Origin(found.input_sha256, found.prompt_version, found.model, found.parameters, found.seed)
            if (found.step, found.chunk) == (step.name, step.chunk) and made_of == origin:
                return found
        return None

    def _read_checkpoints(self) -> list[Checkpoint]:
        with self._bench.ledger.statement() as tx:
            return checkpoints.of_item(tx, self._started.job_id, self._started.position)

    def _keep_now(self, text: Manuscript) -> None:
        if text.done:
            self._bench.keeper.forget(self._started.attempt_id)
        self._keep(text)

    def _keep(self, text: Manuscript, seconds: float | None = None) -> None:
        """Store the text as it is now; an item that others have locked is waited for."""
        row = text.draft()
        if row is not None:
            self._bench.patience(seconds)(self._keep_once, row)
            text.tried(row, kept=True)

    def _keep_once(self, row: Kept) -> None:
        """The checkpoint and the calls that have ended, in one round trip."""
        unrecorded = self.calls[self._recorded :]
        with self._bench.ledger.transaction() as tx:
            together(
                tx,
                checkpoints.keeping(row),
                *([attempts.recording(row.attempt_id, unrecorded)] if unrecorded else []),
            )
        self._recorded += len(unrecorded)


def _ended(opened: Call, report: CallReport, code: str | None, seconds: float) -> Call:
    used = report.usage
    return replace(
        opened,
        error_code=code,
        condition=report.condition,
        input_tokens=used.input_tokens,
        cached_tokens=used.cached_tokens,
        output_tokens=used.output_tokens,
        cost_usd=used.cost_usd,
        request_id=report.request_id,
        model=report.model,
        service_tier=report.service_tier,
        system_fingerprint=report.system_fingerprint,
        latency_seconds=seconds,
    )
