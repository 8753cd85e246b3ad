"""The migrations make what the models say, once, whoever else is migrating."""

import subprocess
import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from ledger_databases import execute
from sqlalchemy import Engine, create_engine, event
from sqlalchemy.pool import NullPool

from pipeline.errors import LedgerUnavailable, SchemaMismatch
from pipeline.ledger.migrate import migrate, require_current, revision
from pipeline.ledger.schema import REVISION, metadata

REPOSITORY = Path(__file__).parents[2]

CATALOG = {
    "columns": """
        SELECT c.relname, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
               pg_get_expr(d.adbin, d.adrelid)
          FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
          LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
         WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attnum > 0""",
    "constraints": """
        SELECT c.relname, k.conname, k.contype, k.convalidated, pg_get_constraintdef(k.oid)
          FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
         WHERE c.relnamespace = 'public'::regnamespace AND k.contype IN ('c', 'u', 'p', 'f', 'x')""",
    "indexes": "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
}


@pytest.fixture
def connect():
    """Opens connections and closes them."""
    opened = []

    def open_one(url):
        opened.append(create_engine(url, poolclass=NullPool).connect())
        return opened[-1]

    yield open_one
    for connection in opened:
        connection.close()


def test_the_migrations_make_the_same_tables_as_the_models(database, empty_database, connect):
    migrated, models = connect(database), connect(empty_database)
    metadata.create_all(models)
    for part in CATALOG:
        assert catalog(migrated, part) == catalog(models, part)


def test_alembic_finds_nothing_to_migrate(database, connect):
    assert compare_metadata(MigrationContext.configure(connect(database)), metadata) == []


def test_two_at_once_migrate_once(empty_database):
    script = "import sys; from pipeline.ledger.migrate import migrate; migrate(sys.argv[1])"
    both = [subprocess.Popen([sys.executable, "-c", script, empty_database], cwd=REPOSITORY) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    assert revision(empty_database) == REVISION


def test_migrating_again_changes_nothing(database, connect):
    before = catalog(connect(database), "columns")
    migrate(database)
    assert catalog(connect(database), "columns") == before
    require_current(database)


def test_an_empty_database_is_not_current(empty_database):
    assert revision(empty_database) is None
    with pytest.raises(SchemaMismatch, match="run `callfold up`"):
        require_current(empty_database)


def test_a_ledger_of_a_later_release_is_left_alone(database):
    execute(database, "UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(SchemaMismatch, match="at revision 9999, which this code does not know: update Callfold"):
        migrate(database)
    assert revision(database) == "9999"


def test_a_locked_table_makes_a_migration_fail_and_not_wait(database, connect):
    execute(database, "DELETE FROM alembic_version")
    execute(database, "DROP TABLE calls, attempts, checkpoints, row_actions, merged_actions, items, budgets")
    execute(database, "DROP TABLE receipts, exports, events, notifications, uploads, texts, reconciler")
    execute(database, "DROP TABLE jobs, idempotency_keys, gates")
    holder = connect(database)
    holder.exec_driver_sql("LOCK TABLE alembic_version IN SHARE MODE")
    asked = []

    def shorten(_connection, _cursor, statement, parameters, *_):
        if statement.startswith("SET lock_timeout"):
            asked.append(statement)
            statement = "SET lock_timeout = '20ms'"
        return statement, parameters

    event.listen(Engine, "before_cursor_execute", shorten, retval=True)
    try:
        with pytest.raises(LedgerUnavailable, match="LockNotAvailable"):
            migrate(database)
    finally:
        event.remove(Engine, "before_cursor_execute", shorten)
    assert asked == ["SET lock_timeout = '5s'"]
    holder.rollback()
    migrate(database)
    require_current(database)


def test_the_migrations_folder_does_not_hide_the_library():
    assert not (REPOSITORY / "alembic" / "__init__.py").exists()


def catalog(connection, part):
    found = sorted(map(str, connection.exec_driver_sql(CATALOG[part]).all()))
    return [row for row in found if "alembic_version" not in row]
