"""Recovery: suspects alone, the breaker and declared rates, notifications, receipts, successor jobs."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

TIME = sa.DateTime(timezone=True)
FALSE = sa.text("false")


def upgrade():
    jobs()
    items_and_attempts()
    gates()
    receipts()
    notifications()


def jobs():
    op.add_column("jobs", sa.Column("predecessor", sa.Uuid()))
    op.add_column("jobs", sa.Column("deliver_to", sa.Text()))
    op.add_column("jobs", sa.Column("delivered_at", TIME))
    op.drop_constraint("jobs_accepted_check", "jobs")
    check("jobs", "accepted", "state <> 'accepted' OR running = 0")
    check("jobs", "carried", "state <> 'accepted' OR succeeded = 0 OR predecessor IS NOT NULL")
    check("jobs", "root", "(predecessor IS NULL) = (root_job_id = job_id)")
    check("jobs", "first_version", "(predecessor IS NULL) = (export_version = 1)")
    check("jobs", "delivered", "delivered_at IS NULL OR (deliver_to IS NOT NULL AND frozen_at IS NOT NULL)")
    undelivered = sa.text("deliver_to IS NOT NULL AND delivered_at IS NULL")
    op.create_index("jobs_undelivered_idx", "jobs", ["frozen_at"], postgresql_where=undelivered)
    op.add_column("events", sa.Column("detail", sa.Text()))


def items_and_attempts():
    op.add_column("items", sa.Column("alone", sa.Boolean(), server_default=FALSE, nullable=False))
    op.add_column("items", sa.Column("losses_alone", sa.SmallInteger(), server_default="0", nullable=False))
    op.add_column("items", sa.Column("carried", sa.Boolean(), server_default=FALSE, nullable=False))
    check("items", "losses_alone", "losses_alone BETWEEN 0 AND attempt_count")
    check("items", "alone", "alone OR losses_alone = 0")
    check("items", "carried", "NOT carried OR state IN ('succeeded', 'failed', 'skipped')")
    op.alter_column("attempts", "released_at", new_column_name="published_at")
    op.add_column("attempts", sa.Column("alone", sa.Boolean(), server_default=FALSE, nullable=False))
    op.create_index("attempts_alone_idx", "attempts", ["started_at"], postgresql_where=sa.text("alone"))
    op.add_column("attempts", sa.Column("charged", sa.Boolean(), server_default=FALSE, nullable=False))
    op.execute("UPDATE attempts SET charged = true WHERE outcome NOT IN ('expired', 'late')")
    op.add_column("calls", sa.Column("began_seconds", sa.Double(), server_default="0", nullable=False))
    check("calls", "began", "began_seconds >= 0")


def gates():
    op.alter_column("gates", "paused_until", nullable=True)
    op.alter_column("gates", "error_code", nullable=True)
    for name in ("opened_at", "opened_for", "probe_at"):
        op.add_column("gates", sa.Column(name, sa.Text() if name == "opened_for" else TIME))
    op.add_column("gates", sa.Column("probes", sa.Integer(), server_default="0", nullable=False))
    op.add_column("gates", sa.Column("probe_dispatch_id", sa.Uuid()))
    op.add_column("gates", sa.Column("outages", sa.Integer(), server_default="0", nullable=False))
    op.add_column("gates", sa.Column("rejections", sa.Integer(), server_default="0", nullable=False))
    op.add_column("gates", sa.Column("requests_due", TIME))
    op.add_column("gates", sa.Column("tokens_due", TIME))
    op.add_column("gates", sa.Column("outage_documents", sa.ARRAY(sa.Text()), server_default="{}", nullable=False))
    op.add_column("gates", sa.Column("closed_at", TIME))
    check("gates", "pause", "(paused_until IS NULL) = (error_code IS NULL)")
    check("gates", "breaker", "(opened_at IS NULL) = (opened_for IS NULL)")
    check("gates", "probe", "(opened_at IS NULL) = (probe_at IS NULL)")
    check("gates", "probe_dispatch", "opened_at IS NOT NULL OR probe_dispatch_id IS NULL")
    check("gates", "runs", "least(probes, outages, rejections) >= 0")


def receipts():
    op.create_table(
        "receipts",
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("export_id", sa.Uuid(), nullable=False),
        sa.Column("uri", sa.Text(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("delivered_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("workspace", "key", name=op.f("receipts_pkey")),
        sa.ForeignKeyConstraint(["export_id"], ["exports.export_id"], name=op.f("receipts_export_id_fkey")),
        sa.CheckConstraint("length(key) BETWEEN 1 AND 512", name=op.f("receipts_key_length_check")),
        sa.CheckConstraint("sha256 ~ '^[0-9a-f]{64}$'", name=op.f("receipts_sha256_check")),
    )


def notifications():
    op.create_table(
        "notifications",
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.Column("tries", sa.Integer(), server_default="0", nullable=False),
        sa.Column("available_at", TIME, nullable=False),
        sa.Column("delivered_at", TIME),
        sa.PrimaryKeyConstraint("job_id", "version", name=op.f("notifications_pkey")),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.job_id"], name=op.f("notifications_job_id_fkey")),
        sa.CheckConstraint(
            "state IN ('accepted', 'running', 'completed', 'cancelled')", name=op.f("notifications_state_check")
        ),
        sa.CheckConstraint("tries >= 0", name=op.f("notifications_tries_check")),
    )
    due = sa.text("delivered_at IS NULL")
    op.create_index("notifications_due_idx", "notifications", ["available_at"], postgresql_where=due)


def check(table, name, condition):
    op.create_check_constraint(op.f(f"{table}_{name}_check"), table, condition)
