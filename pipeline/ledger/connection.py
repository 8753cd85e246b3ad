"""How the ledger is reached: one engine per process, one transaction edge, errors translated once.

The engine is made after a worker has forked, never at import. `transaction()` is the only thing that commits; leaving
it by an exception rolls back. `statement()` runs single statements that are a transaction each.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import psycopg
from sqlalchemy import Connection, create_engine
from sqlalchemy.dialects import postgresql  # noqa: F401 - loaded now, not lazily in one thread while another forks
from sqlalchemy.dialects.postgresql import psycopg as _dialect  # noqa: F401 - see above
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from pipeline.errors import LedgerError, LedgerUnavailable, SchemaMismatch

#: What the arrows take: an open transaction on the ledger.
Transaction = Connection

#: undefined table, undefined column
_NOT_MIGRATED = frozenset({"42P01", "42703"})

#: insufficient privilege; without a state, the URL was not even sent
_TO_DO = {"42501": ": grant the user of DATABASE_URL the schema", None: ": is DATABASE_URL right?"}

#: admin shutdown, crash shutdown, cannot connect now
_SHUTTING_DOWN = frozenset({"57P01", "57P02", "57P03"})

_KEEPALIVE = {"keepalives": 1, "keepalives_idle": 10, "keepalives_interval": 10, "keepalives_count": 3}


class Ledger:
    """The door to PostgreSQL. `pool` is how many statements may run at once (a worker's slots plus its own threads).

    Who waits for a lock longer than `lock_seconds` gets LedgerUnavailable.
    """

    def __init__(self, url: str, *, pool: int = 5, application: str = "callfold", lock_seconds: float = 30.0) -> None:
        arguments: dict[str, Any] = {
            "connect_timeout": 10,
            "application_name": application,
            "options": "-c timezone=UTC -c idle_in_transaction_session_timeout=60000 "
            f"-c lock_timeout={round(lock_seconds * 1000)}",
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
        with translated(), self._fresh_after_failure(), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def statement(self) -> Iterator[Transaction]:
        """Each statement within commits by itself."""
        with translated(), self._fresh_after_failure(), self._autocommit.connect() as connection:
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

    @contextmanager
    def _fresh_after_failure(self) -> Iterator[None]:
        """A server that went away took every pooled connection with it; SQLAlchemy sees that only of its own calls."""
        try:
            yield
        except psycopg.OperationalError as error:
            if _went_away(error):
                self._engine.dispose()
            raise

    def close(self) -> None:
        """Give every pooled connection back to the server."""
        self._engine.dispose()


class Statement(NamedTuple):
    """SQL and the values that are bound in it."""

    sql: str
    parameters: Mapping[str, object] | Sequence[object]


def together(tx: Transaction, *statements: Statement) -> list[list[tuple[Any, ...]]]:
    """Run the statements in order and return the rows of each, in one round trip to the server (psycopg's pipeline).

    For what a job's lock waits for: each answer would be a turn of the interpreter's lock among all of a worker's
    threads, and SQLAlchemy's own bookkeeping costs as much again as the statement.
    """
    connection: psycopg.Connection[tuple[Any, ...]] = tx.connection.driver_connection  # type: ignore[assignment]
    with connection.pipeline():
        cursors = [connection.execute(*statement) for statement in statements]
    # The result says cheaply what `description` would first build a column object each for.
    return [cursor.fetchall() if cursor.pgresult and cursor.pgresult.nfields else [] for cursor in cursors]


@contextmanager
def translated() -> Iterator[None]:
    """The library's errors become ours here and nowhere else.

    PostgreSQL quotes whole rows in its messages, so only the error's type, state and constraint are kept.
    """
    try:
        yield
    except DBAPIError as error:
        raise _ours(error.orig, lost=error.connection_invalidated) from None
    except psycopg.Error as error:
        raise _ours(error, lost=False) from None


def _went_away(error: BaseException | None) -> bool:
    """The connection is gone; a deadlock, a full disk or a lock that was waited for too long leave it as it was."""
    if not isinstance(error, psycopg.OperationalError):
        return False
    state = error.sqlstate
    return state is None or state.startswith("08") or state in _SHUTTING_DOWN


def _ours(error: BaseException | None, *, lost: bool) -> LedgerError:
    name, state = type(error).__name__, getattr(error, "sqlstate", None)
    if state in _NOT_MIGRATED:
        return SchemaMismatch("the ledger is not migrated: `callfold doctor` says what to do")
    if lost or isinstance(error, psycopg.InterfaceError) or _went_away(error):
        return LedgerUnavailable(f"PostgreSQL did not answer ({name}): is it running, is DATABASE_URL right?")
    if isinstance(error, psycopg.OperationalError):
        return LedgerUnavailable(f"PostgreSQL could not do it now ({name} {state}): its log says why")
    constraint = getattr(getattr(error, "diag", None), "constraint_name", None)
    place = f" on {constraint}" if constraint else ""
    return LedgerError(f"PostgreSQL refuses: {name} {state or ''}{place}" + _TO_DO.get(state, ""))
