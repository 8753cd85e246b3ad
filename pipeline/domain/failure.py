"""Error codes decide what happens to a document: one table (section 8) and one pure function over it.

`decide` never sleeps: a document that must wait goes back to pending with a time, and its slot is free at once. What a
code means for the provider's other documents is in `domain.gate`.
"""

from dataclasses import dataclass
from typing import Final, Literal

Wait = Literal["none", "backoff", "gate"]

#: Our own backoff never exceeds this, in seconds; a provider may ask for more.
LONGEST_WAIT: Final = 300.0
#: How long a rate-limited document may wait in all, in seconds; counted by time and not by tries.
RATE_LIMIT_PATIENCE: Final = 3_600.0


@dataclass(frozen=True, slots=True)
class Policy:
    """What a code means for its item.

    `tries` counts attempts that ended with this code (worker_lost: those that ran alone), None is without limit;
    `calls` is how often one attempt may call before the code stands; `charged` says whether the attempt counts against
    `max_attempts`. An open breaker may excuse an attempt from both counts.
    """

    tries: int | None = 1
    wait: Wait = "none"
    charged: bool = True
    calls: int = 1
    ends_as: Literal["failed", "skipped"] = "failed"


POLICIES: Final[dict[str, Policy]] = {
    "input_too_large": Policy(),
    "empty_input": Policy(),
    "too_short": Policy(),
    "unreadable_input": Policy(),
    "not_a_call": Policy(),
    "rate_limited": Policy(tries=None, wait="gate", charged=False),
    "quota_exhausted": Policy(tries=None, charged=False),
    "provider_auth": Policy(tries=None, charged=False),
    "provider_rejected": Policy(),
    "provider_unavailable": Policy(tries=5, wait="backoff"),
    "provider_timeout": Policy(tries=2, wait="backoff"),
    "invalid_output": Policy(calls=3),
    "output_truncated": Policy(calls=2),
    "content_filtered": Policy(tries=2),
    "refused": Policy(tries=2),
    "budget_exhausted": Policy(ends_as="skipped"),
    "failed_by_operator": Policy(),
    "expired": Policy(),
    "cancelled": Policy(ends_as="skipped"),
    "worker_lost": Policy(tries=3),
    "internal_error": Policy(tries=2),
}


@dataclass(frozen=True, slots=True)
class Decision:
    """Try again after `wait` seconds or not; `pause_gate` also holds the profile's other documents for that long."""

    retry: bool
    wait: float = 0.0
    pause_gate: bool = False
    charged: bool = True
    ends_as: Literal["failed", "skipped"] = "failed"


def decide(code: str, *, tries: int, waited: float, retry_after: float | None, jitter: float) -> Decision:
    """What follows an attempt that ended with `code`.

    `tries`: attempts of this item that ended with this code, this one included. `waited`: seconds since the first of
    them. `retry_after`: the provider's word, seconds. `jitter`: 0 to 1, the caller's randomness.
    """
    policy = POLICIES[code]
    out_of_tries = policy.tries is not None and tries >= policy.tries
    out_of_patience = code == "rate_limited" and waited >= RATE_LIMIT_PATIENCE
    retry = not (out_of_tries or out_of_patience)
    pause_gate = policy.wait == "gate"  # also by the last try: the others would be refused as it was
    return Decision(
        retry=retry,
        wait=_pause(policy.wait, tries, retry_after, jitter) if retry or pause_gate else 0.0,
        pause_gate=pause_gate,
        charged=policy.charged,
        ends_as=policy.ends_as,
    )


def _pause(wait: Wait, tries: int, retry_after: float | None, jitter: float) -> float:
    """Exponential from one second to five minutes, spread over its upper half; never shorter than the provider asked.

    Who asks for more than the patience with a document has asked for nothing we can do: that much is waited.
    """
    if wait == "none":
        return 0.0
    exponential = min(LONGEST_WAIT, 2.0 ** min(tries - 1, 20))
    asked = min(retry_after or 0.0, RATE_LIMIT_PATIENCE)
    return max(asked, exponential * (0.5 + jitter / 2))
