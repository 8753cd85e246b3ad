"""Every error Callfold raises on purpose, under one root.

    CallfoldError
    ├── InvalidRequest           the input or a setting is wrong; lists every problem with its place
    ├── IdempotencyConflict      the key is bound to another digest
    ├── NotFound                 no such job, document, export, schedule or profile
    ├── JobNotTerminal           the job may not be frozen yet
    ├── DeliveryRefused          not-terminal, or key-reused-for-other-export
    ├── ItemFailure              one document's attempt ended without a result; carries an error code
    ├── GivenBack                a document has to wait for a later attempt; nobody's failure
    ├── UseAJob                  a document is too much for the time that its caller has; a job takes it
    ├── LedgerError
    │   ├── StaleArrow           a guarded statement matched no row: state or attempt was another
    │   ├── LedgerUnavailable    PostgreSQL did not answer
    │   └── SchemaMismatch       the database is not migrated to what this code needs
    ├── ExportError
    │   ├── ExportMismatch       the target exists and holds other bytes
    │   └── BundleInvalid        verify found problems; lists them
    └── StackError               an embedded server or worker could not be started or stopped

Messages name what to do. They never hold a customer's words: ids and places only.
"""

from collections.abc import Sequence
from dataclasses import dataclass

#: Nobody reads more before mending them.
_MOST_PROBLEMS = 100


class CallfoldError(Exception):
    """The root. `code` is stable and machine-readable; `str(error)` is one line for a person."""

    code = "error"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with an input. `place` says where (file, line, field), `message` what to do."""

    place: str
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


class InvalidRequest(CallfoldError):
    """The input is wrong as a whole. `problems` lists every fault, each with its place."""

    code = "invalid_request"

    def __init__(self, problems: Sequence[Problem] | str) -> None:
        self.problems = (Problem("request", problems),) if isinstance(problems, str) else tuple(problems)
        shown = "; ".join(str(problem) for problem in self.problems[:20])
        more = len(self.problems) - 20
        super().__init__(shown + (f"; and {more} more" if more > 0 else ""))


class Problems:
    """The problems of one input: the first hundred, and how many more there are, so that memory is bounded."""

    def __init__(self) -> None:
        self._first: list[Problem] = []
        self._more = 0

    def add(self, problem: Problem) -> None:
        """Take one more."""
        if len(self._first) < _MOST_PROBLEMS:
            self._first.append(problem)
        else:
            self._more += 1

    def __bool__(self) -> bool:
        return bool(self._first)

    def error(self) -> InvalidRequest:
        """All of them as one error."""
        rest = [Problem("request", f"and {self._more:,} more problems: mend these first")] if self._more else []
        return InvalidRequest([*self._first, *rest])


class IdempotencyConflict(CallfoldError):
    """`key` is bound to `stored_digest` (of `job_id`), the request has `given_digest`; `to_do` ends the message."""

    code = "conflict"

    def __init__(
        self,
        key: str,
        job_id: str,
        stored_digest: str,
        given_digest: str,
        to_do: str = "use another key, or submit the same documents and options",
    ) -> None:
        self.key, self.job_id = key, job_id
        self.stored_digest, self.given_digest = stored_digest, given_digest
        super().__init__(
            f"key {key!r} already belongs to job {job_id} with digest {stored_digest}, this request has "
            f"{given_digest}: {to_do}"
        )


class NotFound(CallfoldError):
    """Nothing by that id: `kind` is job, document, export, schedule or profile."""

    code = "not_found"

    def __init__(self, kind: str, name: str, known: Sequence[str] = ()) -> None:
        self.kind, self.name = kind, name
        super().__init__(f"no {kind} {name!r}" + (f"; known: {', '.join(known)}" if known else ""))


class JobNotTerminal(CallfoldError):
    """The job may not be frozen yet: some item has no final state or the merged set is not written."""

    code = "job_not_terminal"

    def __init__(self, job_id: str, state: str, open_items: int) -> None:
        self.job_id, self.state, self.open_items = job_id, state, open_items
        reason = f"with {open_items} documents open" if open_items else "and its export is not written yet"
        super().__init__(f"job {job_id} is {state} {reason}: wait until it is completed or cancelled, and frozen")


class DeliveryRefused(CallfoldError):
    """An export is not delivered. `code` is a reason of `domain.receipts`."""

    def __init__(self, reason: str, detail: str) -> None:
        self.code = reason
        super().__init__(detail)


class ItemFailure(CallfoldError):
    """One attempt ended without a result. `error_code` is of `domain.failure`; `detail` is our own sentence.

    `retry_after` is what the provider asked for, in seconds; `condition` a call's finer name for it.
    """

    code = "item_failure"

    def __init__(
        self, error_code: str, detail: str, *, retry_after: float | None = None, condition: str | None = None
    ) -> None:
        self.error_code, self.detail, self.retry_after, self.condition = error_code, detail, retry_after, condition
        super().__init__(f"{error_code}: {detail}")


class GivenBack(CallfoldError):
    """A document goes back and waits for a later attempt, uncharged; it is due after `seconds`."""

    code = "given_back"

    def __init__(self, reason: str, seconds: float = 0.0) -> None:
        self.seconds = seconds
        super().__init__(f"{reason}: the document waits")


class UseAJob(CallfoldError):
    """One document is too much for the latency that its caller allows; `reason` says what of it."""

    code = "use_a_job"

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason}: use a job, with `callfold run` or `callfold submit`")


class LedgerError(CallfoldError):
    """The ledger could not do what was asked."""

    code = "ledger_error"


class StaleArrow(LedgerError):
    """A guarded statement matched no row. `arrow` names the transition, `reason` why it did not apply."""

    code = "stale_arrow"

    def __init__(self, arrow: str, reason: str) -> None:
        self.arrow, self.reason = arrow, reason
        super().__init__(f"{arrow} did not apply: {reason}")


class LedgerUnavailable(LedgerError):
    """PostgreSQL did not answer; the transaction may or may not have been committed."""

    code = "ledger_unavailable"


class SchemaMismatch(LedgerError):
    """The database is at another revision than this code."""

    code = "schema_mismatch"


class ExportError(CallfoldError):
    """A bundle could not be written or read."""

    code = "export_error"


class ExportMismatch(ExportError):
    """The target folder exists and holds other bytes than the export; it is never overwritten."""

    code = "export_mismatch"


class BundleInvalid(ExportError):
    """`verify` found problems; `problems` lists them all."""

    code = "bundle_invalid"

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(str(problem) for problem in self.problems[:20]))


class StackError(CallfoldError):
    """An embedded server or worker could not be started, reached or stopped."""

    code = "stack_error"
