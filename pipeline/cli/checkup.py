"""The checks of `doctor`, part by part. Each gives findings and raises nothing; none starts anything."""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from pipeline import stack
from pipeline.cli import flower
from pipeline.errors import CallfoldError, SchemaMismatch
from pipeline.ledger import gates, views
from pipeline.ledger.connection import Ledger
from pipeline.ledger.gates import ShutGate
from pipeline.ledger.migrate import require_current
from pipeline.ledger.schema import REVISION
from pipeline.ledger.views import LedgerHealth
from pipeline.settings import Settings
from pipeline.stack import PartStatus, urls_of
from pipeline.stack.urls import configured

#: The reconciler ticks about once a second.
OLDEST_TICK_SECONDS: Final = 30.0


class Finding(NamedTuple):
    """One part: does it work, in which version or state, and what to do."""

    part: str
    ok: bool
    state: str
    to_do: str | None = None


def all_parts(settings: Settings) -> list[Finding]:
    """Everything from the database to Flower; with nothing configured and nothing running, that."""
    parts, running = stack.status(settings), urls_of(settings)
    urls = (running.as_parts() if running else {}) | configured(settings)
    if not urls:
        return [Finding("stack", ok=False, state="not running", to_do="`callfold up` starts it, `callfold run` a job")]
    return [
        *_processes(parts),
        *_database(urls.get("database")),
        *_messages(urls),
        *_flower(settings, parts),
    ]


def _processes(parts: list[PartStatus]) -> Iterator[Finding]:
    for part in parts:
        state = f"pid {part.pid}" + (f", started again {part.restarts} times" if part.restarts else "")
        if part.running:
            yield Finding(f"process {part.name}", ok=True, state=state)
        else:
            yield Finding(f"process {part.name}", ok=False, state="ended", to_do=f"read {part.name}.log")


def _database(url: str | None) -> Iterator[Finding]:
    if url is None:
        yield Finding("database", ok=False, state="not configured", to_do="set DATABASE_URL, or `callfold up`")
        return
    try:
        require_current(url)
        with Ledger(url).statement() as tx:
            health, shut = views.health(tx), gates.all_shut(tx)
    except SchemaMismatch as error:
        yield Finding("database", ok=False, state="not migrated", to_do=str(error))
    except CallfoldError as error:
        yield Finding("database", ok=False, state="does not answer", to_do=str(error))
    else:
        yield Finding("database", ok=True, state=f"PostgreSQL {health.server_version}, revision {REVISION}")
        yield _reconcile(health)
        yield from _stuck(health)
        yield from _untold(health)
        yield from map(_gate, shut)


def _reconcile(health: LedgerHealth) -> Finding:
    age = health.tick_age_seconds
    if age is not None and age < OLDEST_TICK_SECONDS:
        return Finding("reconcile", ok=True, state=f"last tick {age:.0f} s ago, by {health.tick_worker}")
    state = "no tick yet" if age is None else f"last tick {age:.0f} s ago"
    to_do = "after a start ask again in a few seconds; else start a worker, or read reconcile.log"
    return Finding("reconcile", ok=False, state=state, to_do=to_do)


def _stuck(health: LedgerHealth) -> Iterator[Finding]:
    yield Finding("jobs", ok=True, state=f"{health.open_jobs} open")
    for job_id, state, nudges in health.stuck:
        hop = {"accepted": "admission", "running": "reducer", "frozen": "delivery"}.get(state, "export")
        to_do = f"its {hop} does not get through: read control.log, then `callfold status {job_id}`"
        yield Finding(f"job {job_id}", ok=False, state=f"{hop} asked for {nudges} times", to_do=to_do)


def _untold(health: LedgerHealth) -> Iterator[Finding]:
    for job_id, tries in health.untold:
        to_do = "nobody can be told of its end: read control.log for notify.failed, see to CALLFOLD_ON_COMPLETE"
        yield Finding(f"job {job_id}", ok=False, state=f"notification tried {tries} times", to_do=to_do)


#: What opened a breaker, and what a person can do about it.
_TO_MEND: Final = {
    "quota_exhausted": "raise the provider's quota",
    "provider_auth": "correct key, address or model (`callfold profiles check`) where workers run, start them again",
    "provider_unavailable": "see whether the provider is down",
    "provider_rejected": "look at the rejected documents with `callfold show JOB`",
}


def _gate(gate: ShutGate) -> Finding:
    part = f"gate {gate.profile}"
    if gate.opened_at is None or gate.probe_at is None:
        return Finding(part, ok=True, state=f"paused until {gate.paused_until:%H:%M:%S} UTC ({gate.error_code})")
    state = (
        f"breaker open since {gate.opened_at:%Y-%m-%d %H:%M:%S} UTC ({gate.opened_for}), "
        f"next probe due at {gate.probe_at:%H:%M:%S} UTC"
    )
    mend = _TO_MEND.get(gate.opened_for or "", "see the last attempts")
    return Finding(part, ok=False, state=state, to_do=f"{mend}, then `callfold resume {gate.profile}`")


def _messages(urls: dict[str, str]) -> Iterator[Finding]:
    if not {"broker", "result"} <= urls.keys():
        yield Finding("broker", ok=False, state="not configured", to_do="set BROKER_URL and RESULT_URL")
        return
    from tasks import app, vitals  # noqa: PLC0415 - Celery takes a second to import

    app.connect(urls["broker"], urls["result"])
    broker = _answer("broker", vitals.broker)
    yield broker
    yield _answer("results", vitals.results)
    if broker.ok:
        yield _workers(vitals.workers())


def _answer(part: str, ask: Callable[[], str]) -> Finding:
    try:
        return Finding(part, ok=True, state=ask())
    except CallfoldError as error:
        return Finding(part, ok=False, state="does not answer", to_do=str(error))


def _workers(names: list[str]) -> Finding:
    if names:
        return Finding("workers", ok=True, state=", ".join(names))
    return Finding("workers", ok=False, state="none answers", to_do="`callfold up` starts them; see their logs")


def _flower(settings: Settings, parts: list[PartStatus]) -> Iterator[Finding]:
    for part in parts:
        if part.name == flower.NAME:
            answers = part.running and flower.answers(part)
            opened = flower.where(settings, part)
            yield Finding(flower.NAME, ok=answers, state=f"{part.address}" if answers else "no answer", to_do=opened)
