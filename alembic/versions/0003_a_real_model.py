"""A real model: what calls cost and were allowed to, checkpoints of what was written, budgets."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

TIME = sa.DateTime(timezone=True)
NOW = sa.text("clock_timestamp()")


def upgrade():
    op.add_column("attempts", sa.Column("cached_tokens", sa.BigInteger()))
    op.add_column("attempts", sa.Column("unknown_calls", sa.Integer(), server_default="0", nullable=False))
    calls()
    checkpoints()
    budgets()


def calls():
    op.add_column("calls", sa.Column("chunk", sa.Integer(), server_default="0", nullable=False))
    for name in ("covers", "condition"):
        op.add_column("calls", sa.Column(name, sa.Text()))
    op.add_column("calls", sa.Column("reserved_tokens", sa.BigInteger()))
    op.add_column("calls", sa.Column("reserved_usd", sa.Double()))
    op.add_column("calls", sa.Column("cached_tokens", sa.BigInteger()))
    for name in ("request_id", "model", "service_tier", "system_fingerprint"):
        op.add_column("calls", sa.Column(name, sa.Text()))
    op.alter_column("calls", "latency_seconds", nullable=True)
    check("calls", "chunk", "chunk >= 0")
    check("calls", "under_way", "latency_seconds IS NOT NULL OR reserved_tokens IS NOT NULL")
    check("calls", "reserved", "reserved_tokens >= 0 AND reserved_usd >= 0")
    under_way = sa.text("latency_seconds IS NULL")
    op.create_index("calls_under_way_idx", "calls", ["attempt_id"], postgresql_where=under_way)


def checkpoints():
    op.create_table(
        "checkpoints",
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("step", sa.Text(), nullable=False),
        sa.Column("chunk", sa.Integer(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("input_sha256", sa.Text(), nullable=False),
        sa.Column("prompt_version", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("parameters", sa.Text(), nullable=False),
        sa.Column("seed", sa.BigInteger()),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("done", sa.Boolean(), nullable=False),
        sa.Column("created_at", TIME, server_default=NOW, nullable=False),
        sa.Column("updated_at", TIME, server_default=NOW, nullable=False),
        sa.PrimaryKeyConstraint("job_id", "position", "step", "chunk", name=op.f("checkpoints_pkey")),
        sa.ForeignKeyConstraint(
            ["job_id", "position"], ["items.job_id", "items.position"], name=op.f("checkpoints_job_id_position_fkey")
        ),
        sa.CheckConstraint("input_sha256 ~ '^[0-9a-f]{64}$'", name=op.f("checkpoints_input_sha256_check")),
    )
    op.create_index("checkpoints_updated_at_idx", "checkpoints", ["updated_at"])


def budgets():
    op.create_table(
        "budgets",
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("tokens", sa.BigInteger()),
        sa.Column("usd", sa.Double()),
        sa.Column("tokens_taken", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("usd_taken", sa.Double(), server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("job_id", name=op.f("budgets_pkey")),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.job_id"], name=op.f("budgets_job_id_fkey")),
        sa.CheckConstraint("tokens IS NOT NULL OR usd IS NOT NULL", name=op.f("budgets_limit_check")),
    )


def check(table, name, condition):
    op.create_check_constraint(op.f(f"{table}_{name}_check"), table, condition)
