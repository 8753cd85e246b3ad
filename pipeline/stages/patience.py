"""Patience with PostgreSQL: what is in hand is offered again for a while, and the ledger knows it by its ids."""

from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_exponential

from pipeline.errors import LedgerUnavailable


def patience(seconds: float) -> Retrying:
    """Calls again for up to so many seconds while PostgreSQL does not answer; then its LedgerUnavailable is raised.

    What is called must be idempotent: an answer that was lost may have been a COMMIT that was made.
    """
    return Retrying(
        retry=retry_if_exception_type(LedgerUnavailable),
        wait=wait_exponential(multiplier=0.1, max=2.0),
        stop=stop_after_delay(seconds),
        reraise=True,
    )
