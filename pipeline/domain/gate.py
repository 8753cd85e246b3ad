r"""A profile's gate: what an attempt's end means for all other documents on the same provider. Pure.

    closed --quota, authentication, a run of outages or of rejections--> open --success of a later attempt--> closed
                                                                           \_______resume, by a person______/

"Open" and "closed" are the breaker's: open, nothing is released or started but one probe at a time. A pause after a
429 and the declared rates stand beside it and end by themselves.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

#: So many attempts in a row end as provider_unavailable: as many as one document has tries, so that a provider that is
#: away fails no document, while a few broken connections among successes stop nothing.
OUTAGES_TO_OPEN: Final = 5
#: So many different documents in a row are rejected (the code is terminal): one may be odd, three mean the request.
REJECTIONS_TO_OPEN: Final = 3
#: No document has any hope with these.
OPEN_AT_ONCE: Final = frozenset({"quota_exhausted", "provider_auth"})
#: Ends that an open breaker excuses: the document goes back uncharged, whatever its tries.
EXCUSED: Final = OPEN_AT_ONCE | {"provider_unavailable", "rate_limited"}
#: Every code that changes the gate.
CODES: Final = EXCUSED | {"provider_rejected"}

#: The first probe after a quarter of a lease (15 s), then doubling to fifteen leases (15 minutes): what is mended in a
#: moment is noticed soon, what takes a night costs about a hundred calls.
FIRST_PROBE_LEASES: Final = 0.25
LONGEST_PROBE_LEASES: Final = 15.0

#: A slot may sleep so many seconds for its place in a declared rate, and no longer.
LONGEST_SLEEP: Final = 2.0
#: Where the next place is further off, nothing is released or started; less than the sleep, so that what was started at
#: the same moment still finds a place.
STARTS_WITHIN: Final = 1.0


@dataclass(frozen=True, slots=True)
class Gate:
    """The gate as the ledger holds it. `outages` and `rejections` are runs without a success."""

    paused_until: datetime | None = None
    error_code: str | None = None
    opened_at: datetime | None = None
    opened_for: str | None = None
    probe_at: datetime | None = None
    probes: int = 0
    outages: int = 0
    rejections: int = 0


def failed(gate: Gate, code: str, at: datetime, *, pause: float, lease: float) -> Gate:
    """The gate after an attempt that ended with `code` at `at`; `pause` and `lease` in seconds.

    A pause that stands and is longer stays; a breaker that is open stays open for what opened it.
    """
    gate = _opened(_counted(gate, code), code, at, lease)
    until = at + timedelta(seconds=pause)
    if not pause or (gate.paused_until is not None and gate.paused_until >= until):
        return gate
    return replace(gate, paused_until=until, error_code=code)


def _counted(gate: Gate, code: str) -> Gate:
    return replace(
        gate,
        outages=gate.outages + (code == "provider_unavailable"),
        rejections=gate.rejections + (code == "provider_rejected"),
    )


def _opened(gate: Gate, code: str, at: datetime, lease: float) -> Gate:
    runs_out = gate.outages >= OUTAGES_TO_OPEN or gate.rejections >= REJECTIONS_TO_OPEN
    if gate.opened_at is not None or not (code in OPEN_AT_ONCE or runs_out):
        return gate
    probe_at = at + timedelta(seconds=until_probe(0, lease))
    return replace(gate, opened_at=at, opened_for=code, probe_at=probe_at, probes=0)


def succeeded(gate: Gate, started_at: datetime) -> Gate:
    """The gate after a success: both runs end, and the breaker closes if the attempt started after it opened."""
    gate = replace(gate, outages=0, rejections=0)
    if gate.opened_at is None or started_at <= gate.opened_at:
        return gate
    return replace(gate, opened_at=None, opened_for=None, probe_at=None, probes=0)


def excuses(gate: Gate, code: str) -> bool:
    """Whether an attempt that ended with `code` goes back uncharged: the breaker is open, perhaps by this very end."""
    return gate.opened_at is not None and code in EXCUSED


def until_probe(probes: int, lease: float) -> float:
    """Seconds until the next probe after `probes` of them."""
    return lease * min(LONGEST_PROBE_LEASES, FIRST_PROBE_LEASES * 2.0 ** min(probes, 20))
