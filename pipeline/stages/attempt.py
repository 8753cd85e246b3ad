"""One attempt as its summarizer sees it: calls that are reserved, written and timed, texts that survive a crash.

call      a place in the declared rates | the job's budget, and the call's row | the request | what it took
writing   what an earlier attempt left | checkpoints as it grows | whole
"""

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic, sleep
from typing import Final

from pipeline.domain.costs import dollars
from pipeline.domain.results import Usage
from pipeline.errors import GivenBack, ItemFailure
from pipeline.ledger import attempts, budgets, checkpoints, gates
from pipeline.ledger.attempts import Call
from pipeline.ledger.budgets import Opened
from pipeline.ledger.checkpoints import Checkpoint
from pipeline.ledger.connection import together
from pipeline.ledger.items import Started
from pipeline.settings import Profile
from pipeline.stages.bench import Bench
from pipeline.stages.keeper import Holder, Manuscript
from pipeline.summarizers.port import CallReport, Demand, Origin, Step, Writing

#: How long a document waits for the calls of others that may leave something of the budget, in seconds.
_BUDGET_WAIT: Final = 2.0


class LedgerAttempt:
    """The port's Attempt on the ledger. `tokens` of the transcript count for calls that make no demand of their own."""

    def __init__(self, bench: Bench, started: Started, profile: Profile, tokens: int) -> None:
        self.number = started.number
        #: those that have ended
        self.calls: list[Call] = []
        self._bench, self._started, self._profile, self._tokens = bench, started, profile, tokens
        self._began = monotonic()
        self._ends = self._began + started.seconds
        self._recorded = 0
        self._found: list[Checkpoint] | None = None

    @contextmanager
    def call(self, step: Step, demand: Demand | None = None) -> Iterator[CallReport]:
        """See the port."""
        if demand is not None:
            self._leave_time_for_it()
        self._wait_for_a_place(demand)
        sequence, began = len(self.calls) + 1, monotonic()
        reserved = None if demand is None else self._open(sequence, step, demand, began - self._began)
        report = CallReport(sequence, min(self._ends, began + self._profile.call_seconds))
        code: str | None = "internal_error"
        try:
            yield report
            code = None
        except ItemFailure as failed:
            code = failed.error_code
            raise
        finally:
            report.close(demand, self._profile.prices)
            self.calls.append(self._ended(step, report, reserved, code, began))

    def writing(self, step: Step, origin: Origin) -> Writing:
        """See the port."""
        started = self._started
        holder = Holder(started.job_id, started.position, started.attempt_id)
        text = Manuscript(holder, step, origin, self._checkpoint(step, origin), self._bench.show)
        text.on_finish = self._keep_whole
        if not text.done:
            self._bench.keeper.watch(text)
        return text

    def end(self) -> None:
        """It writes no more: what was new in a text that broke off is kept for the next attempt."""
        text = self._bench.keeper.forget(self._started.attempt_id)
        if text is not None and not text.done and text.text:
            self._bench.patience()(self._keep, text)

    @property
    def usage(self) -> Usage:
        """What its calls took so far."""
        return Usage.total(
            Usage(
                input_tokens=call.input_tokens,
                cached_tokens=call.cached_tokens,
                output_tokens=call.output_tokens,
                cost_usd=call.cost_usd,
                unknown_calls=int(call.reserved_tokens is not None and call.input_tokens is None),
            )
            for call in self.calls
        )

    def _leave_time_for_it(self) -> None:
        """A long document goes back between two calls: the next attempt goes on where this one ends."""
        left = self._ends - monotonic()
        made_way = any(call.error_code is None for call in self.calls)
        if made_way and left < min(self._profile.call_seconds, self._started.seconds / 2):
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

    def _open(self, sequence: int, step: Step, demand: Demand, began: float) -> tuple[int, float | None]:
        """Write the call before it is sent; what ended before is written with it. Gives the reservation."""
        tokens, prices = demand.input_tokens + demand.output_tokens, self._profile.prices
        usd = None if prices is None else dollars(prices, demand.input_tokens, demand.output_tokens)
        match self._bench.patience()(self._open_once, sequence, step, tokens, usd, began):
            case "later":
                raise GivenBack("other calls hold what is left of the job's budget", _BUDGET_WAIT)
            case "spent":
                raise ItemFailure("budget_exhausted", "what is left of the job's budget does not hold the next call")
            case "overtaken":
                raise GivenBack("another attempt works on it")
            case "opened":
                return tokens, usd

    def _open_once(self, sequence: int, step: Step, tokens: int, usd: float | None, began: float) -> Opened:
        started = self._started
        with self._bench.ledger.statement() as tx:
            if self._recorded < len(self.calls):
                attempts.record_calls(tx, started.attempt_id, self.calls[self._recorded :])
                self._recorded = len(self.calls)
            return budgets.open_call(
                tx,
                started.job_id,
                started.position,
                started.attempt_id,
                sequence=sequence,
                step=step.name,
                chunk=step.chunk,
                covers=step.covers,
                tokens=tokens,
                usd=usd,
                began=began,
            )

    def _ended(
        self,
        step: Step,
        report: CallReport,
        reserved: tuple[int, float | None] | None,
        code: str | None,
        began: float,
    ) -> Call:
        used, (tokens, usd) = report.usage, reserved or (None, None)
        return Call(
            sequence=report.sequence,
            step=step.name,
            chunk=step.chunk,
            covers=step.covers,
            error_code=code,
            condition=report.condition,
            reserved_tokens=tokens,
            reserved_usd=usd,
            input_tokens=used.input_tokens,
            cached_tokens=used.cached_tokens,
            output_tokens=used.output_tokens,
            cost_usd=used.cost_usd,
            request_id=report.request_id,
            model=report.model,
            service_tier=report.service_tier,
            system_fingerprint=report.system_fingerprint,
            latency_seconds=monotonic() - began,
            began_seconds=began - self._began,
        )

    def _checkpoint(self, step: Step, origin: Origin) -> Checkpoint | None:
        """What an earlier attempt left of this very text; the first attempt finds nothing."""
        if self._found is None:
            self._found = [] if self.number == 1 else self._bench.patience()(self._read_checkpoints)
        for found in self._found:
            made_of = Origin(found.input_sha256, found.prompt_version, found.model, found.parameters, found.seed)
            if (found.step, found.chunk) == (step.name, step.chunk) and made_of == origin:
                return found
        return None

    def _read_checkpoints(self) -> list[Checkpoint]:
        with self._bench.ledger.statement() as tx:
            return checkpoints.of_item(tx, self._started.job_id, self._started.position)

    def _keep_whole(self, text: Manuscript) -> None:
        self._bench.keeper.forget(self._started.attempt_id)
        self._bench.patience()(self._keep, text)

    def _keep(self, text: Manuscript) -> None:
        """The checkpoint and the calls that have ended, in one round trip."""
        unrecorded = self.calls[self._recorded :]
        with self._bench.ledger.statement() as tx:
            together(
                tx,
                checkpoints.keeping([text.kept()]),
                *([attempts.recording(self._started.attempt_id, unrecorded)] if unrecorded else []),
            )
        self._recorded += len(unrecorded)
