r"""The states of an item and a job, and what each event does to an item. Pure: the caller brings the time.

    Job    accepted --admit--> running --reduce--> completed
              \_______________cancel_____________> cancelled

    Item   pending --release--> released --start--> running --settle--> succeeded | failed | skipped
              ^------hold----------'                   |
              ^------requeue (retry) | lose (lease)----'
           pending | released | running --expire--> failed(expired)
           pending | released | running --fail by operator--> failed(failed_by_operator)
           pending | released --cancel--> skipped(cancelled)

`apply` decides in this order: a terminal item stays as it is, then the deadline (`at >= expires_at`), then the event.
An expiry is stamped at `expires_at` itself, whenever it is noticed, so that a replay gives the same history.
The ledger's arrows are these rules as guarded statements; property tests hold the two together.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from pipeline.domain.failure import POLICIES
from pipeline.domain.results import ItemState, JobState
from pipeline.errors import InvalidRequest

JOB_STATES: Final[tuple[JobState, ...]] = ("accepted", "running", "completed", "cancelled")
ITEM_STATES: Final[tuple[ItemState, ...]] = (
    "pending",
    "released",
    "running",
    "succeeded",
    "failed",
    "skipped",
)
OPEN: Final[frozenset[ItemState]] = frozenset({"pending", "released", "running"})
TERMINAL: Final[frozenset[ItemState]] = frozenset({"succeeded", "failed", "skipped"})


@dataclass(frozen=True, slots=True)
class Item:
    """An item as the rules see it. `attempt_count` is also the fence: events of an attempt carry its number."""

    state: ItemState
    expires_at: datetime
    job_cancelled: bool = False
    version: int = 1
    attempt_count: int = 0
    #: attempts that count against `max_attempts` (section 8 decides which)
    charged: int = 0
    max_attempts: int = 12
    progress: int = 0
    cursor: int = 0
    available_at: datetime | None = None
    error_code: str | None = None
    result_ref: str | None = None
    result_hash: str | None = None
    finished_at: datetime | None = None
    #: the last attempt lost its lease and no later one has started: its settle still counts
    suspect: bool = False
    #: it has lost a lease, so it runs on the one-slot queue: what kills its process kills no neighbour
    alone: bool = False
    #: how often it was lost there; a loss among neighbours may have been a neighbour's doing
    losses_alone: int = 0


@dataclass(frozen=True, slots=True)
class Release:
    """The item is given a lane and its message is published."""


@dataclass(frozen=True, slots=True)
class Hold:
    """A released item gives its lane back without an attempt: the provider's gate is shut. It is due at `until`."""

    until: datetime


@dataclass(frozen=True, slots=True)
class Start:
    """A worker claims the released item; the new attempt is number `attempt_count + 1`."""

    worker: str


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an attempt came: `progress` in percent, `cursor` a place of the summarizer's own."""

    attempt: int
    progress: int
    cursor: int


@dataclass(frozen=True, slots=True)
class Succeed:
    """The attempt has a result."""

    attempt: int
    result_ref: str
    result_hash: str


@dataclass(frozen=True, slots=True)
class Fail:
    """The attempt has none. `wait` is the pause before the next one; `charged` whether it counts (section 8).

    `skips` marks the codes that end as skipped and not as failed (budget_exhausted).
    """

    attempt: int
    code: str
    retryable: bool
    wait: timedelta = timedelta(0)
    charged: bool = True
    skips: bool = False


@dataclass(frozen=True, slots=True)
class Lose:
    """The attempt's lease ran out: suspicion only, the item may be claimed again."""

    attempt: int


@dataclass(frozen=True, slots=True)
class FailByOperator:
    """A person ends the document that will never end by itself."""


@dataclass(frozen=True, slots=True)
class Cancel:
    """The job was cancelled: what has not started never will."""


@dataclass(frozen=True, slots=True)
class Expire:
    """The job's deadline has come."""


Event = Release | Hold | Start | Progress | Succeed | Fail | Lose | FailByOperator | Cancel | Expire


@dataclass(frozen=True, slots=True)
class Transition:
    """What an event did. `notify` is true where the change shows outside; `reason` is the rule's name."""

    item: Item
    changed: bool
    duplicate: bool
    notify: bool
    reason: str


def apply(item: Item, event: Event, at: datetime) -> Transition:
    """The item after `event` at time `at`. Raises InvalidRequest for empty or out-of-range values."""
    _check(event)
    if item.state in TERMINAL:
        return _on_terminal(item, event)
    if at >= item.expires_at or isinstance(event, Expire):
        return _expired(item, at)
    match event:
        case Release():
            return _release(item)
        case Hold(until):
            return _hold(item, until)
        case Start():
            return _start(item)
        case FailByOperator():
            return _moved(item, "failed", state="failed", error_code="failed_by_operator", finished_at=at)
        case Cancel():
            return _cancel(item, at)
        case Progress() | Succeed() | Fail() | Lose():
            if event.attempt != item.attempt_count or not _still_counts(item, event):
                return _same(item, "not-running")
            return _in_attempt(_unsuspected(item), event, at)


def _still_counts(item: Item, event: Progress | Succeed | Fail | Lose) -> bool:
    """A lost lease is suspicion: the outcome of the last attempt counts until a later one starts."""
    return item.state == "running" or (item.suspect and isinstance(event, Succeed | Fail))


def _unsuspected(item: Item) -> Item:
    """The attempt reports after all: what it says replaces the loss that was assumed."""
    if not item.suspect:
        return item
    if not item.losses_alone:
        return replace(item, suspect=False, alone=False)
    return replace(item, suspect=False, losses_alone=item.losses_alone - 1, charged=item.charged - 1)


def _in_attempt(item: Item, event: Progress | Succeed | Fail | Lose, at: datetime) -> Transition:
    match event:
        case Progress():
            return _progress(item, event)
        case Succeed():
            return _moved(
                item,
                "succeeded",
                state="succeeded",
                result_ref=event.result_ref,
                result_hash=event.result_hash,
                finished_at=at,
            )
        case Fail():
            return _fail(item, event, at)
        case Lose():
            return _lose(item, event, at)


def _lose(item: Item, event: Lose, at: datetime) -> Transition:
    """A loss counts only where nobody else can have caused it."""
    losses = item.losses_alone + item.alone
    tries = POLICIES["worker_lost"].tries
    again = tries is None or losses < tries
    lost = replace(item, suspect=True, alone=True, losses_alone=losses)
    return _fail(lost, Fail(event.attempt, "worker_lost", retryable=again, charged=item.alone), at)


def _fail(item: Item, event: Fail, at: datetime) -> Transition:
    charged = item.charged + event.charged
    if event.retryable and charged < item.max_attempts:
        if item.job_cancelled:
            return _moved(item, "failed", state="skipped", charged=charged, error_code="cancelled", finished_at=at)
        return _moved(
            item,
            "requeued",
            state="pending",
            charged=charged,
            progress=0,
            cursor=0,
            available_at=at + event.wait,
        )
    state: ItemState = "skipped" if event.skips else "failed"
    return _moved(item, "failed", state=state, charged=charged, error_code=event.code, finished_at=at)


def _release(item: Item) -> Transition:
    if item.state != "pending" or item.job_cancelled:
        return _same(item, "not-startable")
    return _moved(item, "released", state="released", available_at=None)


def _hold(item: Item, until: datetime) -> Transition:
    if item.state != "released":
        return _same(item, "not-startable")
    return _moved(item, "requeued", state="pending", available_at=until)


def _start(item: Item) -> Transition:
    if item.state == "running":
        return _same(item, "already-running", duplicate=True)
    if item.state != "released" or item.job_cancelled:
        return _same(item, "not-startable")
    started = replace(
        item,
        state="running",
        attempt_count=item.attempt_count + 1,
        progress=0,
        cursor=0,
        suspect=False,
        version=item.version + 1,
    )
    return Transition(started, changed=True, duplicate=False, notify=False, reason="started")


def _progress(item: Item, event: Progress) -> Transition:
    if (event.progress, event.cursor) == (item.progress, item.cursor):
        return _same(item, "duplicate-progress", duplicate=True)
    if event.progress < item.progress or event.cursor < item.cursor:
        return _same(item, "stale-progress")
    moved = replace(item, progress=event.progress, cursor=event.cursor, version=item.version + 1)
    return Transition(moved, changed=True, duplicate=False, notify=False, reason="progress")


def _cancel(item: Item, at: datetime) -> Transition:
    if item.state == "running":
        return _same(replace(item, job_cancelled=True), "already-running")
    return _moved(item, "failed", state="skipped", job_cancelled=True, error_code="cancelled", finished_at=at)


def _expired(item: Item, at: datetime) -> Transition:
    if at < item.expires_at:
        return _same(item, "not-startable")
    return _moved(item, "expired", state="failed", error_code="expired", finished_at=item.expires_at)


def _on_terminal(item: Item, event: Event) -> Transition:
    if isinstance(event, Succeed) and item.state == "succeeded" and event.result_hash == item.result_hash:
        return _same(item, "duplicate-result", duplicate=True)
    if isinstance(event, Expire) and item.error_code == "expired":
        return _same(item, "duplicate-expire", duplicate=True)
    return _same(item, "terminal-conflict")


def _moved(item: Item, reason: str, **changes: object) -> Transition:
    moved = replace(item, version=item.version + 1, **changes)  # type: ignore[arg-type]  # fields by name
    if moved.state in TERMINAL:
        progress = 100 if moved.state == "succeeded" else 0
        moved = replace(moved, available_at=None, suspect=False, progress=progress, cursor=0)
    return Transition(moved, changed=True, duplicate=False, notify=True, reason=reason)


def _same(item: Item, reason: str, *, duplicate: bool = False) -> Transition:
    return Transition(item, changed=False, duplicate=duplicate, notify=False, reason=reason)


def _check(event: Event) -> None:
    match event:
        case Start(worker) if not worker:
            raise InvalidRequest("start needs the worker's name")
        case Progress(_, progress, cursor) if not 0 <= progress <= 99 or cursor < 0:
            raise InvalidRequest("progress is 0 to 99 and the cursor not negative")
        case Succeed(_, ref, digest) if not ref or not digest:
            raise InvalidRequest("succeed needs result_ref and result_hash")
        case Fail(_, code, wait=wait) if not code or wait < timedelta(0):
            raise InvalidRequest("fail needs a code and a wait that is not negative")
        case _:
            return
