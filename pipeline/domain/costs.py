"""What calls cost: tokens by a profile's prices."""

from typing import Final

from pipeline.domain.results import Usage
from pipeline.settings import Prices

_MILLION: Final = 1_000_000

#: Conditions of calls that never got there or were turned away at the door: where no model had begun to answer, they
#: are known to cost nothing. A connection that broke later, a failing server and a filter may have been paid.
NEVER_READ: Final = frozenset(
    {
        "provider_unreachable",
        "provider_auth",
        "provider_forbidden",
        "model_not_found",
        "provider_bad_request",
        "provider_quota_exhausted",
        "provider_rate_limited",
        "provider_capacity",
        "provider_overloaded",
        "provider_rejected",
        "input_too_large",
        "context_too_long",
    }
)
NOTHING: Final = Usage(input_tokens=0, cached_tokens=0, output_tokens=0)


def priced(usage: Usage, prices: Prices | None) -> Usage:
    """The usage with its money, where the prices and the tokens are known; a price that the provider told stays."""
    if prices is None or usage.cost_usd is not None or usage.input_tokens is None or usage.output_tokens is None:
        return usage
    cost = dollars(prices, usage.input_tokens, usage.output_tokens, usage.cached_tokens or 0)
    return usage.model_copy(update={"cost_usd": cost})


def dollars(prices: Prices, input_tokens: int, output_tokens: int, cached_tokens: int = 0) -> float:
    """US dollars for so many tokens; the cached ones are part of the input."""
    fresh = max(0, input_tokens - cached_tokens)
    return (fresh * prices.input + cached_tokens * prices.cached + output_tokens * prices.output) / _MILLION
