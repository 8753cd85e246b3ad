"""The ledger: jobs, items, attempts, events and what reduce and freeze write."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade():
    op.create_table(
        "gates",
        sa.Column("profile", sa.Text(), nullable=False),
        sa.Column("paused_until", sa.DateTime(timezone=True), nullable=False),
        sa.Column("error_code", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("profile", name=op.f("gates_pkey")),
    )
    op.create_table(
        "idempotency_keys",
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("idempotency_key", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column(
            "created_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.CheckConstraint("digest ~ '^[0-9a-f]{64}$'", name=op.f("idempotency_keys_digest_check")),
        sa.CheckConstraint("length(idempotency_key) BETWEEN 1 AND 512", name=op.f("idempotency_keys_key_length_check")),
        sa.PrimaryKeyConstraint("workspace", "idempotency_key", name=op.f("idempotency_keys_pkey")),
    )
    op.create_table(
        "jobs",
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("workspace", sa.Text(), nullable=False),
        sa.Column("idempotency_key", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("options", sa.Text(), nullable=False),
        sa.Column("profile", sa.Text(), nullable=False),
        sa.Column("require", sa.Text(), nullable=False),
        sa.Column("concurrency", sa.Integer(), nullable=False),
        sa.Column("max_attempts", sa.Integer(), nullable=False),
        sa.Column("language", sa.Text(), nullable=True),
        sa.Column("same_content_as", sa.Uuid(), nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("admitted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("pending", sa.Integer(), nullable=False),
        sa.Column("running", sa.Integer(), nullable=False),
        sa.Column("succeeded", sa.Integer(), nullable=False),
        sa.Column("failed", sa.Integer(), nullable=False),
        sa.Column("skipped", sa.Integer(), nullable=False),
        sa.Column("next_position", sa.Integer(), server_default="0", nullable=False),
        sa.Column("root_job_id", sa.Uuid(), nullable=False),
        sa.Column("export_version", sa.Integer(), nullable=False),
        sa.Column("reduce_id", sa.Uuid(), nullable=True),
        sa.Column("merged_rows", sa.Integer(), nullable=True),
        sa.Column("nudged_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("nudges", sa.Integer(), server_default="0", nullable=False),
        sa.Column("frozen_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "(ended_at IS NOT NULL) = (state IN ('completed', 'cancelled'))", name=op.f("jobs_ended_check")
        ),
        sa.CheckConstraint("(merged_rows IS NOT NULL) = (state = 'completed')", name=op.f("jobs_merged_rows_check")),
        sa.CheckConstraint("(reduce_id IS NOT NULL) = (state = 'completed')", name=op.f("jobs_reduced_check")),
        sa.CheckConstraint("require IN ('any', 'all')", name=op.f("jobs_require_check")),
        sa.CheckConstraint("state <> 'accepted' OR (running = 0 AND succeeded = 0)", name=op.f("jobs_accepted_check")),
        sa.CheckConstraint("state <> 'completed' OR pending + running = 0", name=op.f("jobs_completed_check")),
        sa.CheckConstraint("state IN ('accepted', 'running', 'completed', 'cancelled')", name=op.f("jobs_state_check")),
        sa.CheckConstraint("concurrency BETWEEN 1 AND 1000", name=op.f("jobs_concurrency_check")),
        sa.CheckConstraint("expires_at > created_at", name=op.f("jobs_deadline_check")),
        sa.CheckConstraint(
            "frozen_at IS NULL OR (ended_at IS NOT NULL AND pending + running = 0)", name=op.f("jobs_frozen_check")
        ),
        sa.CheckConstraint("max_attempts BETWEEN 1 AND 100", name=op.f("jobs_max_attempts_check")),
        sa.CheckConstraint("pending + running + succeeded + failed + skipped = total", name=op.f("jobs_sum_check")),
        sa.CheckConstraint(
            "total >= 1 AND least(pending, running, succeeded, failed, skipped) >= 0", name=op.f("jobs_counts_check")
        ),
        sa.CheckConstraint("version >= 1 AND export_version >= 1", name=op.f("jobs_versions_check")),
        sa.PrimaryKeyConstraint("job_id", name=op.f("jobs_pkey")),
        sa.UniqueConstraint("root_job_id", "export_version", name=op.f("jobs_root_job_id_export_version_key")),
        sa.UniqueConstraint("workspace", "idempotency_key", name=op.f("jobs_workspace_idempotency_key_key")),
    )
    op.create_index("jobs_digest_idx", "jobs", ["workspace", "digest"], unique=False)
    op.create_index("jobs_unfrozen_idx", "jobs", ["state"], unique=False, postgresql_where=sa.text("frozen_at IS NULL"))
    op.create_table(
        "reconciler",
        sa.Column("one", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("last_tick", sa.DateTime(timezone=True), nullable=False),
        sa.Column("worker", sa.Text(), nullable=False),
        sa.CheckConstraint("one = 1", name=op.f("reconciler_one_check")),
        sa.PrimaryKeyConstraint("one", name=op.f("reconciler_pkey")),
    )
    op.create_table(
        "texts",
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("turns", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("job_id", "position", name=op.f("texts_pkey")),
    )
    op.create_table(
        "uploads",
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column(
            "started_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False
        ),
        sa.PrimaryKeyConstraint("job_id", name=op.f("uploads_pkey")),
    )
    op.create_table(
        "events",
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=True),
        sa.Column("attempt", sa.Integer(), nullable=True),
        sa.Column("error_code", sa.Text(), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.job_id"], name=op.f("events_job_id_fkey")),
        sa.PrimaryKeyConstraint("job_id", "version", name=op.f("events_pkey")),
    )
    op.create_table(
        "exports",
        sa.Column("export_id", sa.Uuid(), nullable=False),
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("export_version", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("row_count", sa.Integer(), nullable=False),
        sa.Column("frozen_at", sa.DateTime(timezone=True), server_default=sa.text("clock_timestamp()"), nullable=False),
        sa.CheckConstraint("sha256 ~ '^[0-9a-f]{64}$'", name=op.f("exports_sha256_check")),
        sa.CheckConstraint("row_count >= 1", name=op.f("exports_row_count_check")),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.job_id"], name=op.f("exports_job_id_fkey")),
        sa.PrimaryKeyConstraint("export_id", name=op.f("exports_pkey")),
        sa.UniqueConstraint("job_id", "export_version", name=op.f("exports_job_id_export_version_key")),
    )
    op.create_table(
        "items",
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("document_id", sa.Text(), nullable=False),
        sa.Column("account_id", sa.Text(), nullable=False),
        sa.Column("consent_scope", sa.Text(), nullable=False),
        sa.Column("retention_class", sa.Text(), nullable=False),
        sa.Column("occurred_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("opportunity_id", sa.Text(), nullable=True),
        sa.Column("contact_id", sa.Text(), nullable=True),
        sa.Column("owner_hint", sa.Text(), nullable=True),
        sa.Column("source_sha256", sa.Text(), nullable=False),
        sa.Column("warnings", sa.Text(), server_default="[]", nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), server_default="1", nullable=False),
        sa.Column("lane", sa.Integer(), nullable=True),
        sa.Column("dispatch_id", sa.Uuid(), nullable=True),
        sa.Column("released_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("published_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("publishes", sa.SmallInteger(), server_default="0", nullable=False),
        sa.Column("available_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("attempt_id", sa.Uuid(), nullable=True),
        sa.Column("attempt_count", sa.Integer(), server_default="0", nullable=False),
        sa.Column("charged", sa.Integer(), server_default="0", nullable=False),
        sa.Column("suspect", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("attempt_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("progress", sa.SmallInteger(), server_default="0", nullable=False),
        sa.Column("cursor", sa.Integer(), server_default="0", nullable=False),
        sa.Column("error_code", sa.Text(), nullable=True),
        sa.Column("error_detail", sa.Text(), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("(attempt_until IS NOT NULL) = (state = 'running')", name=op.f("items_attempt_until_check")),
        sa.CheckConstraint(
            "(dispatch_id IS NOT NULL) = (state IN ('released', 'running'))", name=op.f("items_dispatch_check")
        ),
        sa.CheckConstraint(
            "(error_code IS NOT NULL) = (state IN ('failed', 'skipped'))", name=op.f("items_error_check")
        ),
        sa.CheckConstraint(
            "(finished_at IS NOT NULL) = (state IN ('succeeded', 'failed', 'skipped'))",
            name=op.f("items_finished_check"),
        ),
        sa.CheckConstraint("(lane IS NOT NULL) = (state IN ('released', 'running'))", name=op.f("items_lane_check")),
        sa.CheckConstraint("(lease_until IS NOT NULL) = (state = 'running')", name=op.f("items_lease_check")),
        sa.CheckConstraint(
            "NOT suspect OR (attempt_count > 0 AND state IN ('pending', 'released'))", name=op.f("items_suspect_check")
        ),
        sa.CheckConstraint("available_at IS NULL OR state = 'pending'", name=op.f("items_available_check")),
        sa.CheckConstraint(
            "progress BETWEEN 0 AND 100 AND (progress = 100) = (state = 'succeeded')", name=op.f("items_progress_check")
        ),
        sa.CheckConstraint("source_sha256 ~ '^[0-9a-f]{64}$'", name=op.f("items_source_sha256_check")),
        sa.CheckConstraint(
            "state IN ('pending', 'released', 'running', 'succeeded', 'failed', 'skipped')",
            name=op.f("items_state_check"),
        ),
        sa.CheckConstraint(
            "state NOT IN ('running', 'succeeded') OR attempt_count > 0", name=op.f("items_attempted_check")
        ),
        sa.CheckConstraint("(attempt_id IS NOT NULL) = (attempt_count > 0)", name=op.f("items_attempt_check")),
        sa.CheckConstraint("charged BETWEEN 0 AND attempt_count", name=op.f("items_charged_check")),
        sa.CheckConstraint("error_detail IS NULL OR error_code IS NOT NULL", name=op.f("items_error_detail_check")),
        sa.CheckConstraint("lane >= 0", name=op.f("items_lane_number_check")),
        sa.CheckConstraint("length(document_id) BETWEEN 1 AND 512", name=op.f("items_document_id_check")),
        sa.CheckConstraint("position >= 0", name=op.f("items_position_check")),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.job_id"], name=op.f("items_job_id_fkey")),
        sa.PrimaryKeyConstraint("job_id", "position", name=op.f("items_pkey")),
        sa.UniqueConstraint("job_id", "document_id", name=op.f("items_job_id_document_id_key")),
    )
    op.create_index(
        "items_due_idx",
        "items",
        ["job_id", "available_at"],
        unique=False,
        postgresql_where=sa.text("available_at IS NOT NULL"),
    )
    op.create_index(
        "items_lane_key", "items", ["job_id", "lane"], unique=True, postgresql_where=sa.text("lane IS NOT NULL")
    )
    op.create_table(
        "merged_actions",
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("reduce_id", sa.Uuid(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("action_key", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.job_id"], name=op.f("merged_actions_job_id_fkey")),
        sa.PrimaryKeyConstraint("job_id", "reduce_id", "ordinal", name=op.f("merged_actions_pkey")),
        sa.UniqueConstraint(
            "job_id", "reduce_id", "action_key", name=op.f("merged_actions_job_id_reduce_id_action_key_key")
        ),
    )
    op.create_table(
        "row_actions",
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("reduce_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("actions", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.job_id"], name=op.f("row_actions_job_id_fkey")),
        sa.PrimaryKeyConstraint("job_id", "reduce_id", "position", name=op.f("row_actions_pkey")),
    )
    op.create_table(
        "attempts",
        sa.Column("attempt_id", sa.Uuid(), nullable=False),
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("dispatch_id", sa.Uuid(), nullable=False),
        sa.Column("worker", sa.Text(), nullable=False),
        sa.Column("released_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("outcome", sa.Text(), nullable=True),
        sa.Column("error_code", sa.Text(), nullable=True),
        sa.Column("error_detail", sa.Text(), nullable=True),
        sa.Column("summary", sa.Text(), nullable=True),
        sa.Column("actions", sa.Text(), nullable=True),
        sa.Column("warnings", sa.Text(), nullable=True),
        sa.Column("result_hash", sa.Text(), nullable=True),
        sa.Column("input_tokens", sa.BigInteger(), nullable=True),
        sa.Column("output_tokens", sa.BigInteger(), nullable=True),
        sa.Column("cost_usd", sa.Double(), nullable=True),
        sa.Column("model", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "outcome IN ('succeeded', 'failed', 'skipped', 'requeued', 'lost', 'expired', 'late')",
            name=op.f("attempts_outcome_check"),
        ),
        sa.CheckConstraint(
            "outcome IS DISTINCT FROM 'succeeded' OR result_hash IS NOT NULL", name=op.f("attempts_result_check")
        ),
        sa.CheckConstraint("(actions IS NULL) = (result_hash IS NULL)", name=op.f("attempts_actions_check")),
        sa.CheckConstraint("(ended_at IS NOT NULL) = (outcome IS NOT NULL)", name=op.f("attempts_ended_check")),
        sa.CheckConstraint("(summary IS NULL) = (result_hash IS NULL)", name=op.f("attempts_summary_check")),
        sa.CheckConstraint("number >= 1", name=op.f("attempts_number_check")),
        sa.ForeignKeyConstraint(
            ["job_id", "position"], ["items.job_id", "items.position"], name=op.f("attempts_job_id_position_fkey")
        ),
        sa.PrimaryKeyConstraint("attempt_id", name=op.f("attempts_pkey")),
        sa.UniqueConstraint("job_id", "position", "number", name=op.f("attempts_job_id_position_number_key")),
    )
    op.create_index("attempts_started_at_idx", "attempts", ["started_at"], unique=False)
    op.create_table(
        "calls",
        sa.Column("attempt_id", sa.Uuid(), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("step", sa.Text(), nullable=False),
        sa.Column("error_code", sa.Text(), nullable=True),
        sa.Column("input_tokens", sa.BigInteger(), nullable=True),
        sa.Column("output_tokens", sa.BigInteger(), nullable=True),
        sa.Column("cost_usd", sa.Double(), nullable=True),
        sa.Column("latency_seconds", sa.Double(), nullable=False),
        sa.CheckConstraint("latency_seconds >= 0", name=op.f("calls_latency_check")),
        sa.CheckConstraint("sequence >= 1", name=op.f("calls_sequence_check")),
        sa.ForeignKeyConstraint(["attempt_id"], ["attempts.attempt_id"], name=op.f("calls_attempt_id_fkey")),
        sa.PrimaryKeyConstraint("attempt_id", "sequence", name=op.f("calls_pkey")),
    )


def downgrade():
    op.drop_table("calls")
    op.drop_index("attempts_started_at_idx", table_name="attempts")
    op.drop_table("attempts")
    op.drop_table("row_actions")
    op.drop_table("merged_actions")
    op.drop_index("items_lane_key", table_name="items", postgresql_where=sa.text("lane IS NOT NULL"))
    op.drop_index("items_due_idx", table_name="items", postgresql_where=sa.text("available_at IS NOT NULL"))
    op.drop_table("items")
    op.drop_table("exports")
    op.drop_table("events")
    op.drop_table("uploads")
    op.drop_table("texts")
    op.drop_table("reconciler")
    op.drop_index("jobs_unfrozen_idx", table_name="jobs", postgresql_where=sa.text("frozen_at IS NULL"))
    op.drop_index("jobs_digest_idx", table_name="jobs")
    op.drop_table("jobs")
    op.drop_table("idempotency_keys")
    op.drop_table("gates")
