"""Patience with PostgreSQL: what is in hand is offered again for a while, and the ledger knows it by its ids."""

from collections.abc import Callable

from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_exponential

from pipeline.errors import LedgerUnavailable


def patience(seconds: float, hurried: Callable[[], bool] = lambda: False) -> Retrying:
    """Calls again while PostgreSQL does not answer; after so many seconds, or `hurried`, raises its error.

    What is called must be idempotent: an answer that was lost may have been a COMMIT that was made.
    """
    too_late = stop_after_delay(seconds)
    return Retrying(
        retry=retry_if_exception_type(LedgerUnavailable),
        wait=wait_exponential(multiplier=0.1, max=2.0),
        stop=lambda state: hurried() or too_late(state),
        reraise=True,
    )
