"""The provider's gate of each profile, shared by all workers: pauses, breaker, probes and declared rates.

What an attempt's end makes of it is decided in `domain.gate`. A transaction that changes a gate has locked its job
first; a success touches the row only where there is something to mend.
"""

from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields, replace
from datetime import datetime
from uuid import UUID

from pipeline.domain.gate import LONGEST_SLEEP, STARTS_WITHIN, Gate
from pipeline.errors import StaleArrow
from pipeline.ledger.connection import Statement, Transaction, together


def shut(profile: str, now: str, *, probes: str = "NULL::uuid[]") -> str:
    """A condition in SQL: at `now` the profile's gate lets nothing through, unless its probe is one of `probes`.

    All three are expressions of the statement that it stands in.
    """
    return f"""EXISTS (
        SELECT 1 FROM gates
         WHERE gates.profile = {profile}
           AND (paused_until > {now}
                OR opened_at IS NOT NULL AND (probe_dispatch_id = ANY({probes})) IS NOT TRUE
                OR greatest(requests_due, tokens_due) > {now} + interval '{STARTS_WITHIN} seconds'))"""


_COLUMNS = ", ".join(field.name for field in fields(Gate))

_ENSURE = "INSERT INTO gates (profile) VALUES (%s) ON CONFLICT DO NOTHING"

# The CTE is materialised because of its row lock, so the clock is read after the lock was had.
_LOCK = f"""
WITH gate AS MATERIALIZED (SELECT {_COLUMNS} FROM gates WHERE profile = %s FOR NO KEY UPDATE)
SELECT clock_timestamp(), {_COLUMNS} FROM gate
"""


def lock(tx: Transaction, profile: str) -> tuple[datetime, Gate]:
    """The database's clock and the profile's gate under its lock, made where there was none."""
    _, [(now, *columns)] = together(tx, Statement(_ENSURE, (profile,)), Statement(_LOCK, (profile,)))
    gate = Gate(*columns)
    return now, replace(gate, outage_documents=tuple(gate.outage_documents))


# Only an open breaker has a probe.
_STORE = f"""
UPDATE gates
   SET ({_COLUMNS}) = ({", ".join(["%s"] * len(fields(Gate)))}),
       probe_dispatch_id = CASE WHEN %s::timestamptz IS NOT NULL THEN probe_dispatch_id END
 WHERE profile = %s
"""


def store(tx: Transaction, profile: str, gate: Gate) -> None:
    """What became of the gate that this transaction has locked."""
    values = [list(value) if isinstance(value, tuple) else value for value in astuple(gate)]
    tx.exec_driver_sql(_STORE, (*values, gate.opened_at, profile))


# As `domain.gate.succeeded`. Where nothing is to be mended the row is neither written nor locked.
_SUCCEED = """
UPDATE gates
   SET outages = 0, rejections = 0, outage_documents = '{}',
       opened_at = CASE WHEN opened_at >= started_at THEN opened_at END,
       opened_for = CASE WHEN opened_at >= started_at THEN opened_for END,
       probe_at = CASE WHEN opened_at >= started_at THEN probe_at END,
       probes = CASE WHEN opened_at >= started_at THEN probes ELSE 0 END,
       probe_dispatch_id = CASE WHEN opened_at >= started_at THEN probe_dispatch_id END,
       closed_at = CASE WHEN opened_at < started_at THEN clock_timestamp() ELSE closed_at END
  FROM attempts
 WHERE profile = %(profile)s AND attempt_id = %(attempt)s
   AND (outages > 0 OR rejections > 0 OR opened_at < started_at)
"""


def succeeding(profile: str, attempt_id: UUID) -> Statement:
    """The statement by which an attempt's success ends runs and closes a breaker that opened before it started."""
    return Statement(_SUCCEED, {"profile": profile, "attempt": attempt_id})


_PROBE = """
UPDATE gates
   SET probe_dispatch_id = %(dispatch)s, probes = probes + 1,
       probe_at = clock_timestamp() + %(seconds)s * interval '1 second'
 WHERE profile = %(profile)s AND probe_at <= clock_timestamp()
"""


def probe(tx: Transaction, profile: str, dispatch_id: UUID, seconds: float) -> None:
    """Let this dispatch through an open breaker whose probe is due; the next is due after `seconds`.

    Raises StaleArrow where none is due any more.
    """
    parameters = {"profile": profile, "dispatch": dispatch_id, "seconds": seconds}
    if tx.exec_driver_sql(_PROBE, parameters).rowcount != 1:
        raise StaleArrow("probe", "the breaker is closed, or another probe is on its way")


# A place is where both due times are past; a call moves each of them by its share of a minute. All in one statement,
# behind the row's lock, so that no two calls are given the same place.
_RESERVE = """
INSERT INTO gates AS gate (profile, requests_due, tokens_due)
VALUES (%(profile)s, clock_timestamp() + %(request)s * interval '1 second',
        clock_timestamp() + %(tokens)s * interval '1 second')
ON CONFLICT (profile) DO UPDATE
   SET requests_due = greatest(gate.requests_due, clock_timestamp()) + %(request)s * interval '1 second',
       tokens_due = greatest(gate.tokens_due, clock_timestamp()) + %(tokens)s * interval '1 second'
 WHERE coalesce(greatest(gate.requests_due, gate.tokens_due)
                <= clock_timestamp() + %(sleep)s * interval '1 second', true)
RETURNING extract(epoch FROM greatest(requests_due - %(request)s * interval '1 second',
                                      tokens_due - %(tokens)s * interval '1 second') - clock_timestamp())::float8
"""


def reserve(tx: Transaction, profile: str, request: float, tokens: float) -> float | None:
    """Reserve one call's place in the declared rates: it takes `request` and `tokens` seconds of them.

    Returns how many seconds to wait for it, at most LONGEST_SLEEP. None: it is further off, and nothing was reserved.
    """
    parameters = {"profile": profile, "request": request, "tokens": tokens, "sleep": LONGEST_SLEEP}
    wait = tx.exec_driver_sql(_RESERVE, parameters).scalar_one_or_none()
    return None if wait is None else max(0.0, wait)


_RESUME = """
WITH before AS (
    SELECT profile, opened_at IS NOT NULL OR paused_until > clock_timestamp() AS was_shut
      FROM gates WHERE profile = %s FOR NO KEY UPDATE
)
UPDATE gates
   SET paused_until = NULL, error_code = NULL, opened_at = NULL, opened_for = NULL, probe_at = NULL, probes = 0,
       probe_dispatch_id = NULL, outages = 0, rejections = 0, outage_documents = '{}', closed_at = clock_timestamp()
  FROM before WHERE gates.profile = before.profile
RETURNING was_shut
"""


def resume(tx: Transaction, profile: str) -> bool:
    """Close the breaker, lift the pause and forget the runs; False where the gate was neither open nor paused."""
    return bool(tx.exec_driver_sql(_RESUME, (profile,)).scalar_one_or_none())


@dataclass(frozen=True, slots=True)
class ShutGate:
    """A gate that lets nothing through now: its breaker is open since `opened_at`, else it is paused until then."""

    profile: str
    paused_until: datetime | None
    error_code: str | None
    opened_at: datetime | None
    opened_for: str | None
    probe_at: datetime | None


_SHUT = """
SELECT profile, paused_until, error_code, opened_at, opened_for, probe_at FROM gates
 WHERE opened_at IS NOT NULL OR paused_until > clock_timestamp() ORDER BY profile
"""


def all_shut(tx: Transaction) -> Sequence[ShutGate]:
    """The profiles whose breaker is open or whose gate is paused now."""
    return [ShutGate(*row) for row in tx.exec_driver_sql(_SHUT)]
