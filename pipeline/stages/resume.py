"""Resume: a person has mended what closed a provider, and its documents go on at once."""

import structlog

from pipeline.ledger import gates
from pipeline.ledger.connection import Ledger

log = structlog.get_logger(__name__)


def resume(ledger: Ledger, profile: str) -> bool:
    """Close the profile's breaker and lift its pause; False where there was neither. Reconcile opens the lanes."""
    with ledger.transaction() as tx:
        was_shut = gates.resume(tx, profile)
    if was_shut:
        log.info("resume.resumed", profile=profile)
    return was_shut
