"""The tables. A wrong state cannot be stored: what the rules forbid, a CHECK or a unique index refuses.

    idempotency_keys ──> jobs ──< items ──< attempts ──< calls
                          │         ├── texts (the words; copied before the job exists)
                          │         └──< checkpoints   what its attempts have written so far, until it is final
                          ├── budgets           where the job has one
                          ├──< events          one per version, without gaps
                          ├──< merged_actions  the reducer's result, under its reduce_id
                          ├──< row_actions     each document's actions with their final disposition
                          ├──< exports ──< receipts    one per frozen version; one per delivery key
                          └──< notifications   one per change of the job's state, until it is delivered
    gates (one per profile)    uploads (texts without a job yet)    reconciler (one row)

The migrations in `alembic/` make the same tables; a test compares the two.
"""

from typing import Final

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    text,
)

from pipeline.domain.lifecycle import ITEM_STATES, JOB_STATES

#: What this code needs; `doctor` and the first connection compare it with the database.
REVISION: Final = "0003"

metadata = MetaData(
    naming_convention={
        "ix": "%(table_name)s_%(column_0_N_name)s_idx",
        "uq": "%(table_name)s_%(column_0_N_name)s_key",
        "ck": "%(table_name)s_%(constraint_name)s_check",
        "fk": "%(table_name)s_%(column_0_N_name)s_fkey",
        "pk": "%(table_name)s_pkey",
    }
)

_TIME = DateTime(timezone=True)


def _one_of(column: str, values: tuple[str, ...]) -> str:
    listed = ", ".join(f"'{value}'" for value in values)
    return f"{column} IN ({listed})"


idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    Column("workspace", Text, primary_key=True),
    Column("idempotency_key", Text, primary_key=True),
    Column("digest", Text, nullable=False),
    Column("job_id", Uuid, nullable=False),
    Column("created_at", _TIME, nullable=False, server_default=text("clock_timestamp()")),
    CheckConstraint("length(idempotency_key) BETWEEN 1 AND 512", name="key_length"),
    CheckConstraint("digest ~ '^[0-9a-f]{64}$'", name="digest"),
)

jobs = Table(
    "jobs",
    metadata,
    Column("job_id", Uuid, primary_key=True),
    Column("workspace", Text, nullable=False),
    Column("idempotency_key", Text, nullable=False),
    Column("digest", Text, nullable=False),
    #: the options as given, JSON text; the columns below hold what they mean now
    Column("options", Text, nullable=False),
    Column("profile", Text, nullable=False),
    Column("require", Text, nullable=False),
    Column("concurrency", Integer, nullable=False),
    Column("max_attempts", Integer, nullable=False),
    Column("language", Text),
    Column("same_content_as", Uuid),
    Column("state", Text, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("created_at", _TIME, nullable=False),
    Column("expires_at", _TIME, nullable=False),
    Column("admitted_at", _TIME),
    Column("ended_at", _TIME),
    Column("total", Integer, nullable=False),
    Column("pending", Integer, nullable=False),
    #: released and running items: outside they are one
    Column("running", Integer, nullable=False),
    Column("succeeded", Integer, nullable=False),
    Column("failed", Integer, nullable=False),
    Column("skipped", Integer, nullable=False),
    #: first releases follow it: a scan for the next pending row degrades beside an old snapshot
    Column("next_position", Integer, nullable=False, server_default="0"),
    Column("root_job_id", Uuid, nullable=False),
    Column("export_version", Integer, nullable=False),
    Column("reduce_id", Uuid),
    Column("merged_rows", Integer),
    #: the next hop that must happen without a worker's help, when it was last asked for and how often
    Column("nudged_at", _TIME),
    Column("nudges", Integer, nullable=False, server_default="0"),
    Column("frozen_at", _TIME),
    #: the job that this one amends: same root, one export version before
    Column("predecessor", Uuid),
    #: where the export goes once it is frozen (a nightly delivery), and when it got there
    Column("deliver_to", Text),
    Column("delivered_at", _TIME),
    UniqueConstraint("workspace", "idempotency_key"),
    UniqueConstraint("root_job_id", "export_version"),
    CheckConstraint(_one_of("state", JOB_STATES), name="state"),
    CheckConstraint("require IN ('any', 'all')", name="require"),
    CheckConstraint("concurrency BETWEEN 1 AND 1000", name="concurrency"),
    CheckConstraint("max_attempts BETWEEN 1 AND 100", name="max_attempts"),
    CheckConstraint("version >= 1 AND export_version >= 1", name="versions"),
    CheckConstraint("expires_at > created_at", name="deadline"),
    CheckConstraint("total >= 1 AND least(pending, running, succeeded, failed, skipped) >= 0", name="counts"),
    CheckConstraint("pending + running + succeeded + failed + skipped = total", name="sum"),
    CheckConstraint("state <> 'accepted' OR running = 0", name="accepted"),
    CheckConstraint("state <> 'accepted' OR succeeded = 0 OR predecessor IS NOT NULL", name="carried"),
    CheckConstraint("(predecessor IS NULL) = (root_job_id = job_id)", name="root"),
    CheckConstraint("(predecessor IS NULL) = (export_version = 1)", name="first_version"),
    CheckConstraint("delivered_at IS NULL OR (deliver_to IS NOT NULL AND frozen_at IS NOT NULL)", name="delivered"),
    CheckConstraint("state <> 'completed' OR pending + running = 0", name="completed"),
    CheckConstraint("(reduce_id IS NOT NULL) = (state = 'completed')", name="reduced"),
    CheckConstraint("(merged_rows IS NOT NULL) = (state = 'completed')", name="merged_rows"),
    CheckConstraint("(ended_at IS NOT NULL) = (state IN ('completed', 'cancelled'))", name="ended"),
    CheckConstraint("frozen_at IS NULL OR (ended_at IS NOT NULL AND pending + running = 0)", name="frozen"),
    Index("jobs_digest_idx", "workspace", "digest"),
    #: what reconcile looks at: every job that is not frozen yet
    Index("jobs_unfrozen_idx", "state", postgresql_where=text("frozen_at IS NULL")),
    Index(
        "jobs_undelivered_idx",
        "frozen_at",
        postgresql_where=text("deliver_to IS NOT NULL AND delivered_at IS NULL"),
    ),
)

items = Table(
    "items",
    metadata,
    Column("job_id", Uuid, ForeignKey("jobs.job_id"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("document_id", Text, nullable=False),
    Column("account_id", Text, nullable=False),
    Column("consent_scope", Text, nullable=False),
    Column("retention_class", Text, nullable=False),
    Column("occurred_at", _TIME),
    Column("opportunity_id", Text),
    Column("contact_id", Text),
    Column("owner_hint", Text),
    Column("source_sha256", Text, nullable=False),
    Column("warnings", Text, nullable=False, server_default="[]"),
    Column("state", Text, nullable=False),
    Column("version", Integer, nullable=False, server_default="1"),
    Column("lane", Integer),
    Column("dispatch_id", Uuid),
    Column("released_at", _TIME),
    #: when its message was last published, and how often under this dispatch
    Column("published_at", _TIME),
    Column("publishes", SmallInteger, nullable=False, server_default="0"),
    #: a document that waits for its next attempt; NULL while it waits for its first release
    Column("available_at", _TIME),
    Column("attempt_id", Uuid),
    #: all attempts; also the fence
    Column("attempt_count", Integer, nullable=False, server_default="0"),
    #: those that count against max_attempts
    Column("charged", Integer, nullable=False, server_default="0"),
    Column("suspect", Boolean, nullable=False, server_default=text("false")),
    Column("lease_until", _TIME),
    #: the lease is never renewed past it
    Column("attempt_until", _TIME),
    Column("progress", SmallInteger, nullable=False, server_default="0"),
    Column("cursor", Integer, nullable=False, server_default="0"),
    Column("error_code", Text),
    Column("error_detail", Text),
    Column("finished_at", _TIME),
    #: it has lost a lease: from then on it runs on the one-slot queue, and only losses there are counted
    Column("alone", Boolean, nullable=False, server_default=text("false")),
    Column("losses_alone", SmallInteger, nullable=False, server_default="0"),
    #: a successor job's row that stands as its predecessor left it; its attempt is the predecessor's
    Column("carried", Boolean, nullable=False, server_default=text("false")),
    UniqueConstraint("job_id", "document_id"),
    CheckConstraint(_one_of("state", ITEM_STATES), name="state"),
    CheckConstraint("position >= 0", name="position"),
    CheckConstraint("length(document_id) BETWEEN 1 AND 512", name="document_id"),
    CheckConstraint("source_sha256 ~ '^[0-9a-f]{64}$'", name="source_sha256"),
    CheckConstraint("(lane IS NOT NULL) = (state IN ('released', 'running'))", name="lane"),
    CheckConstraint("lane >= 0", name="lane_number"),
    CheckConstraint("(dispatch_id IS NOT NULL) = (state IN ('released', 'running'))", name="dispatch"),
    CheckConstraint("(lease_until IS NOT NULL) = (state = 'running')", name="lease"),
    CheckConstraint("(attempt_until IS NOT NULL) = (state = 'running')", name="attempt_until"),
    CheckConstraint("available_at IS NULL OR state = 'pending'", name="available"),
    CheckConstraint("(attempt_id IS NOT NULL) = (attempt_count > 0)", name="attempt"),
    CheckConstraint("charged BETWEEN 0 AND attempt_count", name="charged"),
    CheckConstraint("NOT suspect OR (attempt_count > 0 AND state IN ('pending', 'released'))", name="suspect"),
    CheckConstraint("state NOT IN ('running', 'succeeded') OR attempt_count > 0", name="attempted"),
    CheckConstraint("progress BETWEEN 0 AND 100 AND (progress = 100) = (state = 'succeeded')", name="progress"),
    CheckConstraint("(error_code IS NOT NULL) = (state IN ('failed', 'skipped'))", name="error"),
    CheckConstraint("error_detail IS NULL OR error_code IS NOT NULL", name="error_detail"),
    CheckConstraint("(finished_at IS NOT NULL) = (state IN ('succeeded', 'failed', 'skipped'))", name="finished"),
    CheckConstraint("losses_alone BETWEEN 0 AND attempt_count", name="losses_alone"),
    CheckConstraint("alone OR losses_alone = 0", name="alone"),
    CheckConstraint("NOT carried OR state IN ('succeeded', 'failed', 'skipped')", name="carried"),
    #: lanes are a constraint, not a count; it also finds every released and running item
    Index("items_lane_key", "job_id", "lane", unique=True, postgresql_where=text("lane IS NOT NULL")),
    Index("items_due_idx", "job_id", "available_at", postgresql_where=text("available_at IS NOT NULL")),
)

uploads = Table(
    "uploads",
    metadata,
    Column("job_id", Uuid, primary_key=True),
    Column("started_at", _TIME, nullable=False, server_default=text("clock_timestamp()")),
)

texts = Table(
    "texts",
    metadata,
    # No foreign key: texts are copied under a made-up job id before the job exists.
    Column("job_id", Uuid, primary_key=True),
    Column("position", Integer, primary_key=True),
    #: the turns as JSON text: NUL characters and lone surrogates were replaced when it was read
    Column("turns", Text, nullable=False),
)

attempts = Table(
    "attempts",
    metadata,
    Column("attempt_id", Uuid, primary_key=True),
    Column("job_id", Uuid, nullable=False),
    Column("position", Integer, nullable=False),
    Column("number", Integer, nullable=False),
    Column("dispatch_id", Uuid, nullable=False),
    Column("worker", Text, nullable=False),
    #: when the message by which it started was sent, or sent again
    Column("published_at", _TIME, nullable=False),
    Column("started_at", _TIME, nullable=False),
    Column("ended_at", _TIME),
    #: NULL while it runs; `late` is a result that came after the item had moved on: kept, never applied
    Column("outcome", Text),
    Column("error_code", Text),
    Column("error_detail", Text),
    Column("summary", Text),
    Column("actions", Text),
    Column("warnings", Text),
    Column("result_hash", Text),
    Column("input_tokens", BigInteger),
    Column("output_tokens", BigInteger),
    Column("cost_usd", Double),
    Column("model", Text),
    #: whether it ran on the one-slot queue
    Column("alone", Boolean, nullable=False, server_default=text("false")),
    #: whether it counts against max_attempts and the tries of its code
    Column("charged", Boolean, nullable=False, server_default=text("false")),
    Column("cached_tokens", BigInteger),
    #: how many of its calls told no usage: the sums are at least so much
    Column("unknown_calls", Integer, nullable=False, server_default="0"),
    UniqueConstraint("job_id", "position", "number"),
    ForeignKeyConstraint(["job_id", "position"], ["items.job_id", "items.position"]),
    CheckConstraint("number >= 1", name="number"),
    CheckConstraint(
        _one_of("outcome", ("succeeded", "failed", "skipped", "requeued", "lost", "expired", "late")), name="outcome"
    ),
    CheckConstraint("(ended_at IS NOT NULL) = (outcome IS NOT NULL)", name="ended"),
    CheckConstraint("outcome IS DISTINCT FROM 'succeeded' OR result_hash IS NOT NULL", name="result"),
    CheckConstraint("(summary IS NULL) = (result_hash IS NULL)", name="summary"),
    CheckConstraint("(actions IS NULL) = (result_hash IS NULL)", name="actions"),
    Index("attempts_started_at_idx", "started_at"),
    Index("attempts_alone_idx", "started_at", postgresql_where=text("alone")),
)

calls = Table(
    "calls",
    metadata,
    Column("attempt_id", Uuid, ForeignKey("attempts.attempt_id"), primary_key=True),
    Column("sequence", Integer, primary_key=True),
    Column("step", Text, nullable=False),
    #: NULL for a call that gave what was asked, or is under way
    Column("error_code", Text),
    #: NULL: nobody told
    Column("input_tokens", BigInteger),
    Column("output_tokens", BigInteger),
    Column("cost_usd", Double),
    #: NULL while it is under way, and for ever where its process died
    Column("latency_seconds", Double),
    #: when it was sent, in seconds after the start of its attempt
    Column("began_seconds", Double, nullable=False, server_default="0"),
    Column("chunk", Integer, nullable=False, server_default="0"),
    #: which of the transcript's words it read, where it read a part
    Column("covers", Text),
    #: the provider's condition, finer than the code
    Column("condition", Text),
    #: what a call to a provider was allowed to take, reserved before it; NULL for one that costs nothing
    Column("reserved_tokens", BigInteger),
    Column("reserved_usd", Double),
    Column("cached_tokens", BigInteger),
    Column("request_id", Text),
    Column("model", Text),
    Column("service_tier", Text),
    Column("system_fingerprint", Text),
    CheckConstraint("sequence >= 1", name="sequence"),
    CheckConstraint("began_seconds >= 0", name="began"),
    CheckConstraint("latency_seconds >= 0", name="latency"),
    CheckConstraint("chunk >= 0", name="chunk"),
    CheckConstraint("latency_seconds IS NOT NULL OR reserved_tokens IS NOT NULL", name="under_way"),
    CheckConstraint("reserved_tokens >= 0 AND reserved_usd >= 0", name="reserved"),
    Index("calls_under_way_idx", "attempt_id", postgresql_where=text("latency_seconds IS NULL")),
)

checkpoints = Table(
    "checkpoints",
    metadata,
    Column("job_id", Uuid, primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("step", Text, primary_key=True),
    Column("chunk", Integer, primary_key=True),
    Column("workspace", Text, nullable=False),
    #: of what the model read
    Column("input_sha256", Text, nullable=False),
    Column("prompt_version", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("parameters", Text, nullable=False),
    Column("seed", BigInteger),
    #: up to its last whole sentence, which is where the next attempt goes on
    Column("text", Text, nullable=False),
    Column("done", Boolean, nullable=False),
    Column("created_at", _TIME, nullable=False, server_default=text("clock_timestamp()")),
    Column("updated_at", _TIME, nullable=False, server_default=text("clock_timestamp()")),
    ForeignKeyConstraint(["job_id", "position"], ["items.job_id", "items.position"]),
    CheckConstraint("input_sha256 ~ '^[0-9a-f]{64}$'", name="input_sha256"),
    Index("checkpoints_updated_at_idx", "updated_at"),
)

#: A job's budget, where it has one; taken are reservations of calls under way and what ended calls really took.
budgets = Table(
    "budgets",
    metadata,
    Column("job_id", Uuid, ForeignKey("jobs.job_id"), primary_key=True),
    Column("tokens", BigInteger),
    Column("usd", Double),
    Column("tokens_taken", BigInteger, nullable=False, server_default="0"),
    Column("usd_taken", Double, nullable=False, server_default="0"),
    CheckConstraint("tokens IS NOT NULL OR usd IS NOT NULL", name="limit"),
)

events = Table(
    "events",
    metadata,
    Column("job_id", Uuid, ForeignKey("jobs.job_id"), primary_key=True),
    Column("version", BigInteger, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("position", Integer),
    Column("attempt", Integer),
    Column("error_code", Text),
    Column("at", _TIME, nullable=False),
    #: what a person changed, as JSON text of ours
    Column("detail", Text),
)

merged_actions = Table(
    "merged_actions",
    metadata,
    Column("job_id", Uuid, ForeignKey("jobs.job_id"), primary_key=True),
    Column("reduce_id", Uuid, primary_key=True),
    Column("ordinal", Integer, primary_key=True),
    Column("action_key", Text, nullable=False),
    #: a whole MergedAction as JSON text
    Column("action", Text, nullable=False),
    UniqueConstraint("job_id", "reduce_id", "action_key"),
)

row_actions = Table(
    "row_actions",
    metadata,
    Column("job_id", Uuid, ForeignKey("jobs.job_id"), primary_key=True),
    Column("reduce_id", Uuid, primary_key=True),
    Column("position", Integer, primary_key=True),
    #: the document's CrmActions as a JSON array
    Column("actions", Text, nullable=False),
)

exports = Table(
    "exports",
    metadata,
    Column("export_id", Uuid, primary_key=True),
    Column("job_id", Uuid, ForeignKey("jobs.job_id"), nullable=False),
    Column("export_version", Integer, nullable=False),
    #: of seal.json, which names the other files' hashes
    Column("sha256", Text, nullable=False),
    Column("row_count", Integer, nullable=False),
    Column("frozen_at", _TIME, nullable=False, server_default=text("clock_timestamp()")),
    UniqueConstraint("job_id", "export_version"),
    CheckConstraint("sha256 ~ '^[0-9a-f]{64}$'", name="sha256"),
    CheckConstraint("row_count >= 1", name="row_count"),
)

receipts = Table(
    "receipts",
    metadata,
    Column("workspace", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("export_id", Uuid, ForeignKey("exports.export_id"), nullable=False),
    Column("uri", Text, nullable=False),
    #: of seal.json, as delivered
    Column("sha256", Text, nullable=False),
    Column("delivered_at", _TIME, nullable=False),
    CheckConstraint("length(key) BETWEEN 1 AND 512", name="key_length"),
    CheckConstraint("sha256 ~ '^[0-9a-f]{64}$'", name="sha256"),
)

notifications = Table(
    "notifications",
    metadata,
    Column("job_id", Uuid, ForeignKey("jobs.job_id"), primary_key=True),
    Column("version", BigInteger, primary_key=True),
    #: the state that the job came to with this version
    Column("state", Text, nullable=False),
    Column("at", _TIME, nullable=False),
    Column("tries", Integer, nullable=False, server_default="0"),
    #: when it may be tried (again)
    Column("available_at", _TIME, nullable=False),
    Column("delivered_at", _TIME),
    CheckConstraint(_one_of("state", JOB_STATES), name="state"),
    CheckConstraint("tries >= 0", name="tries"),
    Index("notifications_due_idx", "available_at", postgresql_where=text("delivered_at IS NULL")),
)

#: The provider's gate. Paused, or its breaker open, it lets nothing be released or started.
gates = Table(
    "gates",
    metadata,
    Column("profile", Text, primary_key=True),
    #: a pause after a 429 and its code; NULL where there was none
    Column("paused_until", _TIME),
    Column("error_code", Text),
    #: the breaker: since when it is open, and for which code; NULL while it is closed
    Column("opened_at", _TIME),
    Column("opened_for", Text),
    #: when the next single document may be released to try the provider, how many have been, and its dispatch
    Column("probe_at", _TIME),
    Column("probes", Integer, nullable=False, server_default="0"),
    Column("probe_dispatch_id", Uuid),
    #: failures in a row without a success
    Column("outages", Integer, nullable=False, server_default="0"),
    Column("rejections", Integer, nullable=False, server_default="0"),
    #: when the next request may go, and when the tokens of those that went are used up: declared rates, reserved
    Column("requests_due", _TIME),
    Column("tokens_due", _TIME),
    #: which documents the run of outages is of, as far as their number matters: job and position
    Column("outage_documents", ARRAY(Text), nullable=False, server_default="{}"),
    #: when the breaker was last closed
    Column("closed_at", _TIME),
    CheckConstraint("(paused_until IS NULL) = (error_code IS NULL)", name="pause"),
    CheckConstraint("(opened_at IS NULL) = (opened_for IS NULL)", name="breaker"),
    CheckConstraint("(opened_at IS NULL) = (probe_at IS NULL)", name="probe"),
    CheckConstraint("opened_at IS NOT NULL OR probe_dispatch_id IS NULL", name="probe_dispatch"),
    CheckConstraint("least(probes, outages, rejections) >= 0", name="runs"),
)

reconciler = Table(
    "reconciler",
    metadata,
    Column("one", SmallInteger, primary_key=True, autoincrement=False),
    Column("last_tick", _TIME, nullable=False),
    Column("worker", Text, nullable=False),
    CheckConstraint("one = 1", name="one"),
)
