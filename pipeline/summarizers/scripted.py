"""The scripted fake: a summarizer that does what a JSON file says, in real worker processes.

    {"journal": "calls.ndjson",
     "default": [step, ...],
     "documents": {"doc-7": [{"do": "fail", "code": "rate_limited", "retry_after": 0.2}, {"do": "succeed"}]}}

The item's attempt number chooses the step, the last one repeats. Steps: succeed (with `output`, a Summary, or
`raw`, a model's text, and perhaps `usage`), fail, crash (SIGKILL to its own process), hang (past every deadline);
each may first wait `seconds`, or `until` a file is there. Without a script it always succeeds at once: for benchmarks.
"""

import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from pipeline.domain.documents import Seconds
from pipeline.domain.failure import POLICIES
from pipeline.domain.results import Summary, Usage
from pipeline.errors import InvalidRequest, ItemFailure, Problem
from pipeline.summarizers.output import parse_output
from pipeline.summarizers.port import Attempt, CallReport, Step, SummaryRequest, regenerated

CONSTANT = Summary(summary="A scripted summary.", model="scripted")
_LOOK_SECONDS = 0.02


def _with_policy(code: str) -> str:
    if code not in POLICIES:
        raise ValueError("no such error code: take one of domain.failure.POLICIES")
    return code


class _Step(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    seconds: Seconds = 0
    until: Path | None = None


class _Succeed(_Step):
    do: Literal["succeed"]
    output: Summary = CONSTANT
    raw: str | None = None
    usage: Usage = Usage()

    def end(self) -> Summary:
        return self.output if self.raw is None else parse_output(self.raw)


class _Fail(_Step):
    do: Literal["fail"]
    code: Annotated[str, AfterValidator(_with_policy)]
    retry_after: Seconds | None = None

    def end(self) -> Summary:
        raise ItemFailure(self.code, "the script says so", retry_after=self.retry_after)


class _Crash(_Step):
    do: Literal["crash"]

    def end(self) -> Summary:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("unreachable: this process was killed")


class _Hang(_Step):
    do: Literal["hang"]

    def end(self) -> Summary:
        threading.Event().wait()
        raise AssertionError("unreachable: nobody sets it")


_Do = Annotated[_Succeed | _Fail | _Crash | _Hang, Field(discriminator="do")]
_Steps = Annotated[tuple[_Do, ...], Field(min_length=1)]


class _Script(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    journal: Path | None = None
    default: _Steps = (_Succeed(do="succeed"),)
    documents: dict[str, _Steps] = {}


class Scripted:
    """Follows the script at `path`; None: always the constant. Raises InvalidRequest for a bad script."""

    name = "scripted"

    def __init__(self, path: Path | None = None) -> None:
        self._script = None if path is None else _read(path)

    def summarize(self, request: SummaryRequest, attempt: Attempt) -> Summary:
        """Journal each call, wait as told but never past its deadline, then succeed, fail, crash or hang."""

        def ask(_problem: str | None) -> Summary:
            with attempt.call(Step("summarize")) as call:
                return self._answer(request, attempt.number, call)

        return regenerated(ask)

    def _answer(self, request: SummaryRequest, number: int, call: CallReport) -> Summary:
        if self._script is None:
            return CONSTANT
        if self._script.journal is not None:
            _append(self._script.journal, request, number, call.sequence)
        steps = self._script.documents.get(request.fields.document_id, self._script.default)
        step = steps[min(number, len(steps)) - 1]
        _wait(step, call.ends)
        if isinstance(step, _Succeed):
            call.usage = step.usage
        return step.end()


def _read(path: Path) -> _Script:
    try:
        return _Script.model_validate_json(path.read_bytes())
    except OSError as error:
        raise InvalidRequest([Problem(str(path), f"cannot read the script: {error.strerror}")]) from None
    except ValidationError as error:
        raise InvalidRequest(
            [Problem(f"{path}: {'.'.join(map(str, fault['loc']))}", fault["msg"]) for fault in error.errors()]
        ) from None


def _append(journal: Path, request: SummaryRequest, attempt: int, sequence: int) -> None:
    line = json.dumps(
        {
            "document_id": request.fields.document_id,
            "attempt": attempt,
            "sequence": sequence,
            "pid": os.getpid(),
        }
    )
    descriptor = os.open(journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(descriptor, f"{line}\n".encode())  # one write: lines of many processes never mix
    finally:
        os.close(descriptor)


def _wait(step: _Step, deadline: float) -> None:
    _sleep(step.seconds, deadline)
    while step.until is not None and not step.until.exists():
        _sleep(_LOOK_SECONDS, deadline)


def _sleep(seconds: float, deadline: float) -> None:
    left = deadline - time.monotonic()
    time.sleep(max(0.0, min(seconds, left)))
    if seconds > left:
        raise ItemFailure("provider_timeout", "no answer before the deadline of the call")
