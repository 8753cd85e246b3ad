"""How migrations run: under an advisory lock, with lock and statement timeouts, in one transaction."""

from alembic import context
from sqlalchemy import create_engine, text
from sqlalchemy.pool import NullPool

from pipeline.ledger.schema import metadata
from pipeline.settings import load

# Waiting longer would queue every worker's statement behind us.
LOCK_TIMEOUT = "5s"
STATEMENT_TIMEOUT = "60s"
LOCK_KEY = 0x63616C6C666F6C64


def migrate(connection):
    """Run the migrations on an open connection."""
    # The wait for another migrator is not a wait for a table: it comes before the timeouts.
    connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": LOCK_KEY})
    connection.commit()
    try:
        connection.execute(text(f"SET lock_timeout = '{LOCK_TIMEOUT}'"))
        connection.execute(text(f"SET statement_timeout = '{STATEMENT_TIMEOUT}'"))
        connection.commit()
        context.configure(connection=connection, target_metadata=metadata, transaction_per_migration=True)
        with context.begin_transaction():
            context.run_migrations()
    finally:
        connection.rollback()
        connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": LOCK_KEY})
        connection.commit()


def run():
    """Use the caller's connection, or DATABASE_URL for the `alembic` command."""
    given = context.config.attributes.get("connection")
    if given is not None:
        migrate(given)
        return
    url = load().database_url
    if url is None:
        message = "set DATABASE_URL, or let `callfold up` migrate the embedded database"
        raise SystemExit(message)
    with create_engine(url.get_secret_value(), poolclass=NullPool).connect() as connection:
        migrate(connection)


run()
