"""Bringing the database to what this code needs, with Alembic; the migrations stand in `alembic/` in the checkout.

Many processes may start at once: one migrates under an advisory lock (see `alembic/env.py`), the others wait for it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.util import CommandError
from sqlalchemy import Connection, create_engine
from sqlalchemy.pool import NullPool

from pipeline.errors import SchemaMismatch
from pipeline.ledger.connection import translated
from pipeline.ledger.schema import REVISION

_SCRIPTS = Path(__file__).parents[2] / "alembic"


def migrate(url: str) -> None:
    """Upgrade to the newest revision; nothing happens where it is there already.

    Raises LedgerUnavailable, and SchemaMismatch for a revision that this code has not heard of.
    """
    with _connected(url) as connection:
        found = _revision(connection)
        if found == REVISION:
            return
        config = Config()
        config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, "head")
        except CommandError:
            raise SchemaMismatch(
                f"the ledger is at revision {found}, which this code does not know: update Callfold, or use another "
                "DATABASE_URL or CALLFOLD_DATA_DIR"
            ) from None


def revision(url: str) -> str | None:
    """The database's revision, None where it was never migrated. Raises LedgerUnavailable."""
    with _connected(url) as connection:
        return _revision(connection)


def require_current(url: str) -> None:
    """Raises SchemaMismatch where the database is at another revision than this code."""
    found = revision(url)
    if found != REVISION:
        raise SchemaMismatch(
            f"the ledger is at revision {found or 'none'}, this code needs {REVISION}: run `callfold up`"
        )


def _revision(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


@contextmanager
def _connected(url: str) -> Iterator[Connection]:
    # A host that drops packets would keep us for two minutes.
    engine = create_engine(url, poolclass=NullPool, hide_parameters=True, connect_args={"connect_timeout": 10})
    with translated(), engine.connect() as connection:
        yield connection
