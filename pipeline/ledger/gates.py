"""The provider's gate of each profile, shared by all workers: while it is paused nothing is released or started."""

from datetime import datetime

from pipeline.ledger.connection import Transaction

_PAUSE = """
INSERT INTO gates (profile, paused_until, error_code)
VALUES (%(profile)s, clock_timestamp() + %(seconds)s * interval '1 second', %(code)s)
ON CONFLICT (profile) DO UPDATE
   SET paused_until = greatest(gates.paused_until, excluded.paused_until), error_code = excluded.error_code
"""


def pause(tx: Transaction, profile: str, seconds: float, error_code: str) -> None:
    """Hold every lane of the profile for that long; a longer pause that stands already stays."""
    tx.exec_driver_sql(_PAUSE, {"profile": profile, "seconds": seconds, "code": error_code})


def paused(tx: Transaction) -> dict[str, tuple[datetime, str]]:
    """The profiles whose gate is paused now: until when and for which code."""
    rows = tx.exec_driver_sql(
        "SELECT profile, paused_until, error_code FROM gates WHERE paused_until > clock_timestamp() ORDER BY profile"
    )
    return {row.profile: (row.paused_until, row.error_code) for row in rows}
