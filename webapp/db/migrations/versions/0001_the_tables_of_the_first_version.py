"""The tables of the first version."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0001"
down_revision: str | None = None
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Bring the tables to this version."""
    op.create_table(
        "attempts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("source", sa.String(length=128), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_attempts"),
    )
    op.create_index("ix_attempts_source_at", "attempts", ["source", "at"], unique=False)
    op.create_table(
        "properties",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("identity", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_properties"),
        sa.UniqueConstraint("identity", name="uq_properties_identity"),
    )
    op.create_table(
        "studies",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("allow_bulk", sa.Boolean(), nullable=False),
        sa.Column("show_pictures", sa.Boolean(), nullable=False),
        sa.Column("blind", sa.Boolean(), nullable=True),
        sa.Column("order_seed", sa.BigInteger(), nullable=False),
        sa.Column("shuffle_questions", sa.Boolean(), nullable=False),
        sa.Column("pool_depth", sa.Integer(), nullable=True),
        sa.Column("overlap", sa.Integer(), nullable=True),
        sa.Column("figures", sa.String(length=16), nullable=False),
        sa.Column("repeat_percent", sa.Integer(), nullable=False),
        sa.Column("guidelines", sa.Text(), nullable=False),
        sa.Column("password", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_studies"),
    )
    op.create_table(
        "log_entries",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("action", sa.String(length=32), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("old", sa.Text(), nullable=True),
        sa.Column("new", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["study_id"], ["studies.id"], name="fk_log_entries_study_id_studies"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_log_entries"),
    )
    op.create_index("ix_log_entries_study_id", "log_entries", ["study_id"], unique=False)
    op.create_table(
        "question_sets",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["study_id"], ["studies.id"], name="fk_question_sets_study_id_studies"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_question_sets"),
    )
    op.create_index("ix_question_sets_study_id", "question_sets", ["study_id"], unique=False)
    op.create_table(
        "raters",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("is_owner", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("removed_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["study_id"], ["studies.id"], name="fk_raters_study_id_studies"),
        sa.PrimaryKeyConstraint("id", name="pk_raters"),
        sa.UniqueConstraint("study_id", "name", name="uq_raters_study_id_name"),
    )
    op.create_table(
        "uploads",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["studies.id"], name="fk_uploads_study_id_studies"),
        sa.PrimaryKeyConstraint("id", name="pk_uploads"),
    )
    op.create_index("ix_uploads_study_id", "uploads", ["study_id"], unique=False)
    op.create_table(
        "invitations",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("rater_id", sa.Integer(), nullable=False),
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("withdrawn_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["rater_id"], ["raters.id"], name="fk_invitations_rater_id_raters"),
        sa.PrimaryKeyConstraint("id", name="pk_invitations"),
        sa.UniqueConstraint("token_hash", name="uq_invitations_token_hash"),
    )
    op.create_index("ix_invitations_rater_id", "invitations", ["rater_id"], unique=False)
    op.create_table(
        "questions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("question_set_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("category", sa.Text(), nullable=False),
        sa.Column("context_dependent", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["question_set_id"],
            ["question_sets.id"],
            name="fk_questions_question_set_id_question_sets",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_questions"),
    )
    op.create_index(
        "ix_questions_question_set_id_position",
        "questions",
        ["question_set_id", "position"],
        unique=False,
    )
    op.create_table(
        "runs",
        sa.Column("id", sa.String(length=16), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("question_set_id", sa.Integer(), nullable=False),
        sa.Column("search_method", sa.Text(), nullable=True),
        sa.Column("llm", sa.Text(), nullable=True),
        sa.Column("stated_search_method", sa.Text(), nullable=True),
        sa.Column("stated_llm", sa.Text(), nullable=True),
        sa.Column("timestamp", sa.Text(), nullable=True),
        sa.Column("session_key", sa.String(length=64), nullable=False),
        sa.Column("total_questions", sa.BigInteger(), nullable=True),
        sa.Column("extra", sa.JSON(), nullable=False),
        sa.Column("imported_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["question_set_id"], ["question_sets.id"], name="fk_runs_question_set_id_question_sets"
        ),
        sa.ForeignKeyConstraint(["study_id"], ["studies.id"], name="fk_runs_study_id_studies"),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
    )
    op.create_index("ix_runs_question_set_id", "runs", ["question_set_id"], unique=False)
    op.create_index("ix_runs_session_key", "runs", ["session_key"], unique=False)
    op.create_index("ix_runs_study_id", "runs", ["study_id"], unique=False)
    op.create_table(
        "judged_things",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("question_id", sa.Integer(), nullable=False),
        sa.Column("property_id", sa.Integer(), nullable=True),
        sa.Column("content", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.String(length=16), nullable=True),
        sa.Column("card", sa.JSON(none_as_null=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["property_id"], ["properties.id"], name="fk_judged_things_property_id_properties"
        ),
        sa.ForeignKeyConstraint(
            ["question_id"], ["questions.id"], name="fk_judged_things_question_id_questions"
        ),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_judged_things_run_id_runs"),
        sa.PrimaryKeyConstraint("id", name="pk_judged_things"),
    )
    op.create_index("ix_judged_things_property_id", "judged_things", ["property_id"], unique=False)
    op.create_index("ix_judged_things_run_id", "judged_things", ["run_id"], unique=False)
    op.create_table(
        "run_files",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.String(length=16), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("file_format", sa.String(length=8), nullable=False),
        sa.Column("problems", sa.JSON(), nullable=False),
        sa.Column("imported_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name="fk_run_files_run_id_runs", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_run_files"),
        sa.UniqueConstraint("run_id", "sha256", name="uq_run_files_run_id_sha256"),
    )
    op.create_index("ix_run_files_sha256", "run_files", ["sha256"], unique=False)
    op.create_table(
        "tasks",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("rater_id", sa.Integer(), nullable=False),
        sa.Column("question_id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.String(length=16), nullable=True),
        sa.Column("kind", sa.String(length=8), nullable=False),
        sa.Column("claimed_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["question_id"], ["questions.id"], name="fk_tasks_question_id_questions"
        ),
        sa.ForeignKeyConstraint(["rater_id"], ["raters.id"], name="fk_tasks_rater_id_raters"),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name="fk_tasks_run_id_runs", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_tasks"),
    )
    op.create_index("ix_tasks_question_id", "tasks", ["question_id"], unique=False)
    op.create_index("ix_tasks_rater_id", "tasks", ["rater_id"], unique=False)
    op.create_index("ix_tasks_run_id", "tasks", ["run_id"], unique=False)
    op.create_table(
        "adjudications",
        sa.Column("judged_thing_id", sa.Integer(), nullable=False),
        sa.Column("verdict", sa.String(length=16), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("rater_id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["judged_thing_id"],
            ["judged_things.id"],
            name="fk_adjudications_judged_thing_id_judged_things",
        ),
        sa.ForeignKeyConstraint(
            ["rater_id"], ["raters.id"], name="fk_adjudications_rater_id_raters"
        ),
        sa.PrimaryKeyConstraint("judged_thing_id", name="pk_adjudications"),
    )
    op.create_index("ix_adjudications_rater_id", "adjudications", ["rater_id"], unique=False)
    op.create_table(
        "judgments",
        sa.Column("rater_id", sa.Integer(), nullable=False),
        sa.Column("judged_thing_id", sa.Integer(), nullable=False),
        sa.Column("verdict", sa.String(length=16), nullable=True),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["judged_thing_id"],
            ["judged_things.id"],
            name="fk_judgments_judged_thing_id_judged_things",
        ),
        sa.ForeignKeyConstraint(["rater_id"], ["raters.id"], name="fk_judgments_rater_id_raters"),
        sa.PrimaryKeyConstraint("rater_id", "judged_thing_id", name="pk_judgments"),
    )
    op.create_index("ix_judgments_judged_thing_id", "judgments", ["judged_thing_id"], unique=False)
    op.create_table(
        "queries",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.String(length=16), nullable=False),
        sa.Column("question_id", sa.Integer(), nullable=False),
        sa.Column("query_id", sa.BigInteger(), nullable=False),
        sa.Column("response", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("claimed_count", sa.BigInteger(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("extra", sa.JSON(), nullable=False),
        sa.Column("emptiness_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["emptiness_id"], ["judged_things.id"], name="fk_queries_emptiness_id_judged_things"
        ),
        sa.ForeignKeyConstraint(
            ["question_id"], ["questions.id"], name="fk_queries_question_id_questions"
        ),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name="fk_queries_run_id_runs", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_queries"),
        sa.UniqueConstraint("run_id", "query_id", name="uq_queries_run_id_query_id"),
    )
    op.create_index("ix_queries_emptiness_id", "queries", ["emptiness_id"], unique=False)
    op.create_index("ix_queries_question_id", "queries", ["question_id"], unique=False)
    op.create_table(
        "repeats",
        sa.Column("task_id", sa.String(length=32), nullable=False),
        sa.Column("judged_thing_id", sa.Integer(), nullable=False),
        sa.Column("verdict", sa.String(length=16), nullable=True),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["judged_thing_id"],
            ["judged_things.id"],
            name="fk_repeats_judged_thing_id_judged_things",
        ),
        sa.ForeignKeyConstraint(
            ["task_id"], ["tasks.id"], name="fk_repeats_task_id_tasks", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("task_id", "judged_thing_id", name="pk_repeats"),
    )
    op.create_index("ix_repeats_judged_thing_id", "repeats", ["judged_thing_id"], unique=False)
    op.create_table(
        "events",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("rater_id", sa.Integer(), nullable=False),
        sa.Column("event_id", sa.String(length=80), nullable=False),
        sa.Column("field", sa.String(length=16), nullable=False),
        sa.Column("judged_thing_id", sa.Integer(), nullable=True),
        sa.Column("query_key", sa.Integer(), nullable=True),
        sa.Column("task_id", sa.String(length=32), nullable=True),
        sa.Column("old", sa.Text(), nullable=True),
        sa.Column("new", sa.Text(), nullable=True),
        sa.Column("cause", sa.String(length=16), nullable=False),
        sa.Column("undoes_id", sa.Integer(), nullable=True),
        sa.Column("device", sa.String(length=64), nullable=False),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column("client_time", sa.DateTime(timezone=True), nullable=True),
        sa.Column("received_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["judged_thing_id"],
            ["judged_things.id"],
            name="fk_events_judged_thing_id_judged_things",
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["query_key"], ["queries.id"], name="fk_events_query_key_queries", ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(["rater_id"], ["raters.id"], name="fk_events_rater_id_raters"),
        sa.ForeignKeyConstraint(
            ["task_id"], ["tasks.id"], name="fk_events_task_id_tasks", ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(["undoes_id"], ["events.id"], name="fk_events_undoes_id_events"),
        sa.PrimaryKeyConstraint("id", name="pk_events"),
        sa.UniqueConstraint(
            "rater_id", "event_id", "field", name="uq_events_rater_id_event_id_field"
        ),
        sa.UniqueConstraint("undoes_id", name="uq_events_undoes_id"),
    )
    op.create_index("ix_events_judged_thing_id", "events", ["judged_thing_id"], unique=False)
    op.create_index("ix_events_query_key", "events", ["query_key"], unique=False)
    op.create_index(
        "ix_events_rater_id_judged_thing_id",
        "events",
        ["rater_id", "judged_thing_id"],
        unique=False,
    )
    op.create_index(
        "ix_events_rater_id_query_key_field",
        "events",
        ["rater_id", "query_key", "field"],
        unique=False,
    )
    op.create_index("ix_events_rater_id_task_id", "events", ["rater_id", "task_id"], unique=False)
    op.create_index("ix_events_task_id", "events", ["task_id"], unique=False)
    op.create_table(
        "query_ratings",
        sa.Column("rater_id", sa.Integer(), nullable=False),
        sa.Column("query_key", sa.Integer(), nullable=False),
        sa.Column("quality", sa.Integer(), nullable=True),
        sa.Column("notes", sa.Text(), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["query_key"],
            ["queries.id"],
            name="fk_query_ratings_query_key_queries",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["rater_id"], ["raters.id"], name="fk_query_ratings_rater_id_raters"
        ),
        sa.PrimaryKeyConstraint("rater_id", "query_key", name="pk_query_ratings"),
    )
    op.create_index("ix_query_ratings_query_key", "query_ratings", ["query_key"], unique=False)
    op.create_table(
        "query_summaries",
        sa.Column("rater_id", sa.Integer(), nullable=False),
        sa.Column("query_key", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.String(length=16), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("results_count", sa.Integer(), nullable=False),
        sa.Column("judged_count", sa.Integer(), nullable=False),
        sa.Column("relevant_count", sa.Integer(), nullable=False),
        sa.Column("not_relevant_count", sa.Integer(), nullable=False),
        sa.Column("unsure_count", sa.Integer(), nullable=False),
        sa.Column("first_relevant_rank", sa.Integer(), nullable=True),
        sa.Column("open_judgments", sa.Integer(), nullable=False),
        sa.Column("complete", sa.Boolean(), nullable=False),
        sa.Column("empty_outcome", sa.String(length=16), nullable=True),
        sa.Column("quality", sa.Double(), nullable=True),
        sa.Column("precision_at_5", sa.Double(), nullable=True),
        sa.Column("precision_at_5_lower", sa.Double(), nullable=True),
        sa.Column("precision_at_5_upper", sa.Double(), nullable=True),
        sa.Column("overall_precision", sa.Double(), nullable=True),
        sa.Column("overall_precision_lower", sa.Double(), nullable=True),
        sa.Column("overall_precision_upper", sa.Double(), nullable=True),
        sa.Column("reciprocal_rank", sa.Double(), nullable=True),
        sa.Column("reciprocal_rank_lower", sa.Double(), nullable=True),
        sa.Column("reciprocal_rank_upper", sa.Double(), nullable=True),
        sa.Column("answerable_reciprocal_rank", sa.Double(), nullable=True),
        sa.Column("answerable_reciprocal_rank_lower", sa.Double(), nullable=True),
        sa.Column("answerable_reciprocal_rank_upper", sa.Double(), nullable=True),
        sa.Column("success", sa.Double(), nullable=True),
        sa.Column("success_lower", sa.Double(), nullable=True),
        sa.Column("success_upper", sa.Double(), nullable=True),
        sa.Column("response_quality", sa.Double(), nullable=True),
        sa.Column("response_quality_lower", sa.Double(), nullable=True),
        sa.Column("response_quality_upper", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(
            ["query_key"],
            ["queries.id"],
            name="fk_query_summaries_query_key_queries",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["rater_id"], ["raters.id"], name="fk_query_summaries_rater_id_raters"
        ),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name="fk_query_summaries_run_id_runs", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("rater_id", "query_key", name="pk_query_summaries"),
    )
    op.create_index("ix_query_summaries_query_key", "query_summaries", ["query_key"], unique=False)
    op.create_index(
        "ix_query_summaries_rater_id_run_id",
        "query_summaries",
        ["rater_id", "run_id"],
        unique=False,
    )
    op.create_index("ix_query_summaries_run_id", "query_summaries", ["run_id"], unique=False)
    op.create_table(
        "results",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("query_key", sa.Integer(), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("judged_thing_id", sa.Integer(), nullable=False),
        sa.Column("card", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["judged_thing_id"],
            ["judged_things.id"],
            name="fk_results_judged_thing_id_judged_things",
        ),
        sa.ForeignKeyConstraint(
            ["query_key"], ["queries.id"], name="fk_results_query_key_queries", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_results"),
        sa.UniqueConstraint("query_key", "rank", name="uq_results_query_key_rank"),
    )
    op.create_index("ix_results_judged_thing_id", "results", ["judged_thing_id"], unique=False)
    op.create_index(
        "uq_judged_things",
        "judged_things",
        [
            "question_id",
            sa.text("coalesce(run_id, '')"),
            sa.text("coalesce(property_id, 0)"),
            "content",
        ],
        unique=True,
    )
    op.create_index(
        "uq_tasks",
        "tasks",
        ["rater_id", "question_id", sa.text("coalesce(run_id, '')"), "kind"],
        unique=True,
    )
