"""How the ledger is reached: one engine per process, one transaction edge, errors translated once.

The engine is made after a worker has forked, never at import. `transaction()` is the only thing that commits; leaving
it by an exception rolls back. `statement()` runs single statements that are a transaction each.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, create_engine
from sqlalchemy.dialects import postgresql  # noqa: F401 - loaded now, not lazily in one thread while another forks
from sqlalchemy.dialects.postgresql import psycopg  # noqa: F401 - see above
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.pool import NullPool

from pipeline.errors import LedgerError, LedgerUnavailable, SchemaMismatch

#: What the arrows take: an open transaction on the ledger.
Transaction = Connection

#: undefined table, undefined column
_NOT_MIGRATED = frozenset({"42P01", "42703"})

_KEEPALIVE = {"keepalives": 1, "keepalives_idle": 10, "keepalives_interval": 10, "keepalives_count": 3}


class Ledger:
    """The door to PostgreSQL. `pool` is how many statements may run at once (a worker's slots plus its own threads)."""

    def __init__(self, url: str, *, pool: int = 5, application: str = "callfold") -> None:
        arguments: dict[str, Any] = {
            "connect_timeout": 10,
            "application_name": application,
            "options": "-c timezone=UTC -c idle_in_transaction_session_timeout=60000",
            **_KEEPALIVE,
        }
        self._engine = create_engine(
            url, pool_size=pool, max_overflow=pool, connect_args=arguments, hide_parameters=True
        )
        self._autocommit = self._engine.execution_options(isolation_level="AUTOCOMMIT")
        self._own = create_engine(
            url, poolclass=NullPool, connect_args=arguments, hide_parameters=True, isolation_level="AUTOCOMMIT"
        )

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Commits at the end, rolls back on an exception. Raises LedgerUnavailable, SchemaMismatch."""
        with translated(), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def statement(self) -> Iterator[Transaction]:
        """Each statement within commits by itself."""
        with translated(), self._autocommit.connect() as connection:
            yield connection

    @contextmanager
    def try_lock(self, name: str) -> Iterator[bool]:
        """Hold the session advisory lock `name` on a connection of its own; yields False where another holds it.

        The lock ends with the connection, whatever becomes of this process.
        """
        with translated(), self._own.connect() as connection:
            got = connection.exec_driver_sql("SELECT pg_try_advisory_lock(hashtextextended(%s, 0))", (name,))
            yield bool(got.scalar_one())

    @contextmanager
    def session(self) -> Iterator[Transaction]:
        """A connection outside the pool, for a thread that keeps one for long."""
        with translated(), self._own.connect() as connection:
            yield connection

    def close(self) -> None:
        """Give every pooled connection back to the server."""
        self._engine.dispose()


@contextmanager
def translated() -> Iterator[None]:
    """The library's errors become ours here and nowhere else.

    PostgreSQL quotes whole rows in its messages, so only the error's type, state and constraint are kept.
    """
    try:
        yield
    except DBAPIError as error:
        raise _ours(error) from None


def _ours(error: DBAPIError) -> LedgerError:
    name, state = type(error.orig).__name__, getattr(error.orig, "sqlstate", None)
    if state in _NOT_MIGRATED:
        return SchemaMismatch("the ledger is not migrated: `callfold doctor` says what to do")
    if isinstance(error, OperationalError | InterfaceError) or error.connection_invalidated:
        return LedgerUnavailable(f"PostgreSQL did not answer ({name}): is it running, is DATABASE_URL right?")
    constraint = getattr(getattr(error.orig, "diag", None), "constraint_name", None)
    return LedgerError(f"{name} {state or ''}" + (f" on {constraint}" if constraint else ""))
