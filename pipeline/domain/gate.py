r"""A profile's gate: what an attempt's end means for all other documents on the same provider. Pure.

    closed --quota, authentication, a run of outages or of rejections--> open --success of a later attempt--> closed
                                                                           \_______resume, by a person______/

"Open" and "closed" are the breaker's: open, nothing is released or started but one probe at a time. A pause after a
429 and the declared rates stand beside it and end by themselves.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

#: So many attempts in a row end as provider_unavailable, and they are of so many documents at least: no more attempts
#: than one document has tries, so that a provider that is away fails none of a job's documents, and more documents than
#: one, for a single one on which the provider breaks each time must end by its tries and hold up nobody.
OUTAGES_TO_OPEN: Final = 5
DOCUMENTS_TO_OPEN: Final = 3
#: So many different documents in a row are rejected (the code is terminal): one may be odd, three mean the request.
REJECTIONS_TO_OPEN: Final = 3
#: No document has any hope with these.
OPEN_AT_ONCE: Final = frozenset({"quota_exhausted", "provider_auth"})
#: Ends that an open breaker excuses: the document goes back uncharged, whatever its tries.
EXCUSED: Final = OPEN_AT_ONCE | {"provider_unavailable", "rate_limited"}
#: The provider answered, if not as we would like: it is there, and takes our key.
ANSWERED: Final = frozenset({"invalid_output", "output_truncated", "content_filtered", "refused"})
#: Every code that changes the gate.
CODES: Final = EXCUSED | ANSWERED | {"provider_rejected"}

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
    """The gate as the ledger holds it. `outages` and `rejections` are runs without a success.

    `outage_documents` names the documents of the run of outages, as far as their number matters.
    """

    paused_until: datetime | None = None
    error_code: str | None = None
    opened_at: datetime | None = None
    opened_for: str | None = None
    probe_at: datetime | None = None
    probes: int = 0
    outages: int = 0
    rejections: int = 0
    outage_documents: tuple[str, ...] = ()
    #: when the breaker last closed: failures of attempts that had begun before say nothing of the time since
    closed_at: datetime | None = None


def failed(
    gate: Gate, code: str, document: str, started_at: datetime, at: datetime, *, pause: float, lease: float
) -> Gate:
    """The gate after an attempt at `document` that ended with `code` at `at`; `pause` and `lease` in seconds.

    A pause that stands and is longer stays; a breaker that is open stays open for what opened it.
    """
    if code in ANSWERED:
        return _answered(gate, started_at, at)
    if gate.closed_at is None or started_at > gate.closed_at:
        gate = _opened(_counted(gate, code, document), code, at, lease)
    until = at + timedelta(seconds=pause)
    if not pause or (gate.paused_until is not None and gate.paused_until >= until):
        return gate
    return replace(gate, paused_until=until, error_code=code)


def _counted(gate: Gate, code: str, document: str) -> Gate:
    if code == "provider_rejected":
        return replace(gate, rejections=gate.rejections + 1)
    if code != "provider_unavailable":
        return gate
    known = gate.outage_documents
    if document not in known and len(known) < DOCUMENTS_TO_OPEN:
        known = (*known, document)
    return replace(gate, outages=gate.outages + 1, outage_documents=known)


def _opened(gate: Gate, code: str, at: datetime, lease: float) -> Gate:
    is_away = gate.outages >= OUTAGES_TO_OPEN and len(gate.outage_documents) >= DOCUMENTS_TO_OPEN
    runs_out = is_away or gate.rejections >= REJECTIONS_TO_OPEN
    if gate.opened_at is not None or not (code in OPEN_AT_ONCE or runs_out):
        return gate
    probe_at = at + timedelta(seconds=until_probe(0, lease))
    return replace(gate, opened_at=at, opened_for=code, probe_at=probe_at, probes=0)


def succeeded(gate: Gate, started_at: datetime, at: datetime) -> Gate:
    """The gate after a success: both runs end, and the breaker closes if the attempt started after it opened."""
    return _closed(replace(gate, outages=0, rejections=0, outage_documents=()), started_at, at)


def _answered(gate: Gate, started_at: datetime, at: datetime) -> Gate:
    """The run of outages ends; a breaker that opened for rejections waits for a success."""
    gate = replace(gate, outages=0, outage_documents=())
    return gate if gate.opened_for == "provider_rejected" else _closed(gate, started_at, at)


def _closed(gate: Gate, started_at: datetime, at: datetime) -> Gate:
    if gate.opened_at is None or started_at <= gate.opened_at:
        return gate
    return replace(gate, opened_at=None, opened_for=None, probe_at=None, probes=0, closed_at=at)


def excuses(gate: Gate, code: str) -> bool:
    """Whether an attempt that ended with `code` goes back uncharged: the breaker is open, perhaps by this very end."""
    return gate.opened_at is not None and code in EXCUSED


def until_probe(probes: int, lease: float) -> float:
    """Seconds until the next probe after `probes` of them."""
    return lease * min(LONGEST_PROBE_LEASES, FIRST_PROBE_LEASES * 2.0 ** min(probes, 20))
