"""The tables of 1.1.0, as its steps had made them."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.schema import CreateIndex, CreateTable

from relevansi.db.tables.base import NAMING

revision: str = "0029"
down_revision: str | None = None
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

TABLES = sa.MetaData(naming_convention=NAMING)


def upgrade() -> None:
    """Make the tables of an empty database, with their indexes in the same order every time."""
    for table in TABLES.sorted_tables:
        op.execute(CreateTable(table))
        for index in sorted(table.indexes, key=lambda index: str(index.name)):
            op.execute(CreateIndex(index))


def _index_of(first: str, *others: str) -> sa.Index:
    """Return an index of the rows whose column `first` refers to something."""
    refers = sa.text(f"{first} IS NOT NULL")
    return sa.Index(None, first, *others, sqlite_where=refers, postgresql_where=refers)


sa.Table(
    "attempts",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("source", sa.String(128), nullable=False),
    sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    sa.Index(None, "source", "at"),
)
sa.Table(
    "properties",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("identity", sa.Text, nullable=False, unique=True),
)
sa.Table(
    "signed_out",
    TABLES,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("at", sa.DateTime(timezone=True), nullable=False, index=True),
)
sa.Table(
    "studies",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("allow_bulk", sa.Boolean, nullable=False),
    sa.Column("show_pictures", sa.Boolean, nullable=False),
    sa.Column("blind", sa.Boolean),
    sa.Column("order_seed", sa.BigInteger, nullable=False),
    sa.Column("order_secret", sa.String(64), nullable=False, server_default=""),
    sa.Column("shuffle_questions", sa.Boolean, nullable=False),
    sa.Column("pool_depth", sa.Integer),
    sa.Column("overlap", sa.Integer),
    sa.Column("figures", sa.String(16), nullable=False),
    sa.Column("badges_while_blind", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("show_record", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("repeat_percent", sa.Integer, nullable=False),
    sa.Column("guidelines", sa.Text, nullable=False),
    sa.Column("password", sa.Text),
    sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("revision", sa.String(32), nullable=False, server_default=""),
    sa.Column("suggest_quality", sa.Boolean),
    sa.Column("starter_guidelines", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("cannot_tell", sa.String(16), nullable=False, server_default="left_out"),
)
sa.Table(
    "consent_texts",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("study_id", sa.ForeignKey("studies.id"), nullable=False),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("language", sa.String(8), nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    sa.UniqueConstraint("study_id", "number", "language"),
)
sa.Table(
    "evaluations",
    TABLES,
    sa.Column("id", sa.String(16), primary_key=True),
    sa.Column("study_id", sa.ForeignKey("studies.id"), nullable=False),
    sa.Column("kind", sa.String(16), nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("files", sa.JSON, nullable=False),
    sa.Column("sha256", sa.String(64), nullable=False),
    sa.Column("settings", sa.JSON, nullable=False),
    sa.Column("provenance", sa.JSON, nullable=False),
    sa.Column("head", sa.JSON, nullable=False),
    sa.Column("figures", sa.JSON, nullable=False),
    sa.Column("problems", sa.JSON, nullable=False),
    sa.Column("n_problems", sa.Integer, nullable=False),
    sa.Column("n_items", sa.Integer, nullable=False),
    sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("for_raters", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.UniqueConstraint("study_id", "sha256"),
)
sa.Table(
    "log_entries",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("study_id", sa.ForeignKey("studies.id"), nullable=False, index=True),
    sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("action", sa.String(32), nullable=False),
    sa.Column("subject", sa.Text, nullable=False),
    sa.Column("old", sa.Text),
    sa.Column("new", sa.Text),
)
sa.Table(
    "long_works",
    TABLES,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("study_id", sa.ForeignKey("studies.id"), nullable=False, index=True),
    sa.Column("kind", sa.String(32), nullable=False),
    sa.Column("wanted", sa.JSON, nullable=False),
    sa.Column("study_state", sa.Text),
    sa.Column("put_down_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("ended_at", sa.DateTime(timezone=True)),
    sa.Column("state", sa.String(8), nullable=False),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("alive_until", sa.DateTime(timezone=True)),
    sa.Column("steps_done", sa.Integer, nullable=False),
    sa.Column("steps", sa.Integer, nullable=False),
    sa.Column("failure", sa.Text),
    sa.Column("remedy", sa.Text),
    sa.Column("about", sa.Text, nullable=False),
    sa.Column("result", sa.JSON),
    sa.Column("file_name", sa.Text),
    sa.Column("media_type", sa.Text),
    sa.Column("data", sa.LargeBinary),
)
sa.Table(
    "question_sets",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("study_id", sa.ForeignKey("studies.id"), nullable=False, index=True),
    sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
)
sa.Table(
    "raters",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("study_id", sa.ForeignKey("studies.id"), nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("is_owner", sa.Boolean, nullable=False),
    sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("removed_at", sa.DateTime(timezone=True)),
    sa.Column("is_machine", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.UniqueConstraint("study_id", "name"),
)
sa.Table(
    "uploads",
    TABLES,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("study_id", sa.ForeignKey("studies.id"), nullable=False, index=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("data", sa.LargeBinary(), nullable=False),
    sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
)
sa.Table(
    "user_studies",
    TABLES,
    sa.Column("study_id", sa.ForeignKey("studies.id"), primary_key=True),
    sa.Column("is_open", sa.Boolean, nullable=False),
    sa.Column("most_questions", sa.Integer, nullable=False),
    sa.Column("endpoint", sa.Text, nullable=False),
    sa.Column("search_method", sa.Text, nullable=False),
    sa.Column("llm", sa.Text, nullable=False),
    sa.Column("api", sa.String(16), nullable=False),
    sa.Column("model", sa.Text, nullable=False),
    sa.Column("mapping", sa.Text, nullable=False),
    sa.Column("answer_seconds", sa.Integer, nullable=False),
    sa.Column("tries", sa.Integer, nullable=False),
    sa.Column("at_once", sa.Integer, nullable=False),
    sa.Column("pause_seconds", sa.Integer, nullable=False),
    sa.Column("most_newcomers", sa.Integer, nullable=False, server_default=sa.text("40")),
    sa.Column("declined", sa.Integer, nullable=False),
    sa.Column("withdrawn", sa.Integer, nullable=False),
    sa.Column("last_number", sa.Integer, nullable=False),
    sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
)
sa.Table(
    "evaluation_items",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("evaluation_id", sa.ForeignKey("evaluations.id", ondelete="CASCADE"), nullable=False),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("item_id", sa.Text, nullable=False),
    sa.Column("row", sa.JSON, nullable=False),
    sa.Column("result", sa.JSON, nullable=False),
    sa.Column("parts", sa.JSON, nullable=False),
    sa.Column("failed", sa.Boolean, nullable=False),
    sa.UniqueConstraint("evaluation_id", "position"),
    sa.Index(None, "evaluation_id", "failed", "position"),
)
sa.Table(
    "gold_versions",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("question_set_id", sa.ForeignKey("question_sets.id"), nullable=False, index=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("document", sa.JSON, nullable=False),
    sa.Column("rater_id", sa.ForeignKey("raters.id"), nullable=False, index=True),
    sa.Column("at", sa.DateTime(timezone=True), nullable=False),
)
sa.Table(
    "invitations",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("rater_id", sa.ForeignKey("raters.id"), nullable=False, index=True),
    sa.Column("token_hash", sa.String(64), nullable=False, unique=True),
    sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("withdrawn_at", sa.DateTime(timezone=True)),
)
sa.Table(
    "machine_judges",
    TABLES,
    sa.Column("rater_id", sa.ForeignKey("raters.id"), primary_key=True),
    sa.Column("endpoint", sa.Text, nullable=False),
    sa.Column("model", sa.Text, nullable=False),
    sa.Column("language", sa.String(8), nullable=False),
    sa.Column("prompt", sa.Text, nullable=False),
    sa.Column("prompt_sha256", sa.String(64), nullable=False),
    sa.Column("temperature", sa.Double(), nullable=False),
    sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("released_at", sa.DateTime(timezone=True)),
)
sa.Table(
    "machine_sessions",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("rater_id", sa.ForeignKey("raters.id"), nullable=False, index=True),
    sa.Column("state", sa.String(16), nullable=False),
    sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("ended_at", sa.DateTime(timezone=True)),
    sa.Column("things", sa.Integer, nullable=False),
    sa.Column("estimated_prompt_tokens", sa.BigInteger, nullable=False),
    sa.Column("estimated_completion_tokens", sa.BigInteger, nullable=False),
    sa.Column("prompt_price", sa.Double()),
    sa.Column("completion_price", sa.Double()),
    sa.Column("currency", sa.String(8), nullable=False),
    sa.Column("most_calls", sa.Integer),
    sa.Column("most_tokens", sa.BigInteger),
    sa.Column("at_once", sa.Integer, nullable=False),
    sa.Column("calls", sa.Integer, nullable=False),
    sa.Column("prompt_tokens", sa.BigInteger, nullable=False),
    sa.Column("completion_tokens", sa.BigInteger, nullable=False),
    sa.Column("uncounted", sa.Integer, nullable=False),
    sa.Column("failed_in_a_row", sa.Integer, nullable=False),
    sa.Column("why", sa.Text),
    sa.Column("failed", sa.Integer, nullable=False, server_default="0"),
    sa.Index(
        "uq_machine_sessions_open",
        "rater_id",
        unique=True,
        sqlite_where=sa.text("ended_at IS NULL"),
        postgresql_where=sa.text("ended_at IS NULL"),
    ),
)
sa.Table(
    "planning_rules",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("study_id", sa.ForeignKey("studies.id"), nullable=False),
    sa.Column("question_set_id", sa.ForeignKey("question_sets.id"), nullable=False, index=True),
    sa.Column("kind", sa.String(16), nullable=False),
    sa.Column("settings", sa.JSON, nullable=False),
    sa.Column("seed", sa.BigInteger, nullable=False),
    sa.Column("verdicts_before", sa.Integer, nullable=False),
    sa.Column("rater_id", sa.ForeignKey("raters.id"), nullable=False, index=True),
    sa.Column("chosen_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("ended_at", sa.DateTime(timezone=True)),
    sa.Column("verdicts_at_end", sa.Integer),
    sa.Column("outcome", sa.String(16)),
    sa.Index(None, "study_id", "id"),
)
sa.Table(
    "questionnaire_answers",
    TABLES,
    sa.Column("rater_id", sa.ForeignKey("raters.id"), primary_key=True),
    sa.Column("item", sa.String(16), primary_key=True),
    sa.Column("score", sa.Integer),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
)
sa.Table(
    "questions",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("question_set_id", sa.ForeignKey("question_sets.id"), nullable=False),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("key", sa.Text, nullable=False),
    sa.Column("category", sa.Text, nullable=False),
    sa.Column("context_dependent", sa.Boolean, nullable=False),
    sa.Column("note", sa.Text),
    sa.Index(None, "question_set_id", "position"),
)
sa.Table(
    "runs",
    TABLES,
    sa.Column("id", sa.String(16), primary_key=True),
    sa.Column("study_id", sa.ForeignKey("studies.id"), nullable=False, index=True),
    sa.Column("question_set_id", sa.ForeignKey("question_sets.id"), nullable=False, index=True),
    sa.Column("search_method", sa.Text),
    sa.Column("llm", sa.Text),
    sa.Column("stated_search_method", sa.Text),
    sa.Column("stated_llm", sa.Text),
    sa.Column("timestamp", sa.Text),
    sa.Column("session_key", sa.String(64), nullable=False, index=True),
    sa.Column("position", sa.Integer),
    sa.Column("total_questions", sa.BigInteger),
    sa.Column("extra", sa.JSON, nullable=False),
    sa.Column("imported_at", sa.DateTime(timezone=True), nullable=False),
)
sa.Table(
    "assignments",
    TABLES,
    sa.Column("rater_id", sa.ForeignKey("raters.id", ondelete="CASCADE"), primary_key=True),
    sa.Column(
        "question_id",
        sa.ForeignKey("questions.id", ondelete="CASCADE"),
        primary_key=True,
        index=True,
    ),
)
sa.Table(
    "item_events",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("rater_id", sa.ForeignKey("raters.id"), nullable=False),
    sa.Column("event_id", sa.String(80), nullable=False),
    sa.Column("evaluation_id", sa.String(16), nullable=False),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("item_key", sa.ForeignKey("evaluation_items.id", ondelete="SET NULL"), index=True),
    sa.Column("part", sa.String(40), nullable=False),
    sa.Column("old", sa.Integer),
    sa.Column("new", sa.Integer),
    sa.Column("cause", sa.String(16), nullable=False),
    sa.Column("undoes_id", sa.ForeignKey("item_events.id"), unique=True),
    sa.Column("device", sa.String(64), nullable=False),
    sa.Column("sequence", sa.BigInteger, nullable=False),
    sa.Column("client_time", sa.DateTime(timezone=True)),
    sa.Column("received_at", sa.DateTime(timezone=True), nullable=False),
    sa.UniqueConstraint("rater_id", "event_id"),
    sa.Index(None, "rater_id", "evaluation_id"),
)
sa.Table(
    "item_judgments",
    TABLES,
    sa.Column("rater_id", sa.ForeignKey("raters.id"), primary_key=True),
    sa.Column(
        "item_key",
        sa.ForeignKey("evaluation_items.id", ondelete="CASCADE"),
        primary_key=True,
        index=True,
    ),
    sa.Column("part", sa.String(40), primary_key=True),
    sa.Column("value", sa.Integer),
    sa.Column("agrees", sa.Boolean),
    sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
)
sa.Table(
    "judged_things",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("question_id", sa.ForeignKey("questions.id"), nullable=False),
    sa.Column("property_id", sa.ForeignKey("properties.id"), index=True),
    sa.Column("content", sa.Integer, nullable=False),
    sa.Column("run_id", sa.ForeignKey("runs.id"), index=True),
    sa.Column("card", sa.JSON),
    sa.Index(
        "uq_judged_things",
        "question_id",
        sa.text("coalesce(run_id, '')"),
        sa.text("coalesce(property_id, 0)"),
        "content",
        unique=True,
    ),
)
sa.Table(
    "participants",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("study_id", sa.ForeignKey("studies.id"), nullable=False),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("pseudonym", sa.Text, nullable=False),
    sa.Column("rater_id", sa.ForeignKey("raters.id"), unique=True),
    sa.Column("run_id", sa.ForeignKey("runs.id"), unique=True),
    sa.Column("consent_id", sa.ForeignKey("consent_texts.id"), index=True),
    sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("agreed_at", sa.DateTime(timezone=True)),
    sa.Column("finished_at", sa.DateTime(timezone=True)),
    sa.UniqueConstraint("study_id", "number"),
)
sa.Table(
    "run_files",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("run_id", sa.ForeignKey("runs.id", ondelete="CASCADE"), nullable=False),
    sa.Column("sha256", sa.String(64), nullable=False, index=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("file_format", sa.String(8), nullable=False),
    sa.Column("problems", sa.JSON, nullable=False),
    sa.Column("imported_at", sa.DateTime(timezone=True), nullable=False),
    sa.UniqueConstraint("run_id", "sha256"),
)
sa.Table(
    "sampled_questions",
    TABLES,
    sa.Column("rule_id", sa.ForeignKey("planning_rules.id"), primary_key=True),
    sa.Column("question_id", sa.ForeignKey("questions.id"), primary_key=True),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Column("stratum", sa.Text, nullable=False),
    sa.Index(None, "rule_id", "position"),
)
sa.Table(
    "tasks",
    TABLES,
    sa.Column("id", sa.String(32), primary_key=True),
    sa.Column("rater_id", sa.ForeignKey("raters.id"), nullable=False, index=True),
    sa.Column("question_id", sa.ForeignKey("questions.id"), nullable=False, index=True),
    sa.Column("run_id", sa.ForeignKey("runs.id", ondelete="CASCADE"), index=True),
    sa.Column("kind", sa.String(8), nullable=False),
    sa.Column("claimed_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("asked_again_at", sa.DateTime(timezone=True)),
    sa.Column("postponed_at", sa.DateTime(timezone=True)),
    sa.Column("keeps_seed_order", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Index(
        "uq_tasks",
        "rater_id",
        "question_id",
        sa.text("coalesce(run_id, '')"),
        "kind",
        unique=True,
    ),
)
sa.Table(
    "adjudications",
    TABLES,
    sa.Column("judged_thing_id", sa.ForeignKey("judged_things.id"), primary_key=True),
    sa.Column("verdict", sa.String(16), nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("rater_id", sa.ForeignKey("raters.id"), nullable=False, index=True),
    sa.Column("at", sa.DateTime(timezone=True), nullable=False),
)
sa.Table(
    "comment_themes",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column(
        "participant_id", sa.ForeignKey("participants.id", ondelete="CASCADE"), nullable=False
    ),
    sa.Column("comment", sa.String(24), nullable=False),
    sa.Column("theme", sa.Text, nullable=False),
    sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    sa.UniqueConstraint("participant_id", "comment", "theme"),
)
sa.Table(
    "judgments",
    TABLES,
    sa.Column("rater_id", sa.ForeignKey("raters.id"), primary_key=True),
    sa.Column("judged_thing_id", sa.ForeignKey("judged_things.id"), primary_key=True, index=True),
    sa.Column("verdict", sa.String(16)),
    sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
)
sa.Table(
    "machine_calls",
    TABLES,
    sa.Column("rater_id", sa.ForeignKey("raters.id"), primary_key=True),
    sa.Column("judged_thing_id", sa.ForeignKey("judged_things.id"), primary_key=True, index=True),
    sa.Column("session_id", sa.ForeignKey("machine_sessions.id"), nullable=False, index=True),
    sa.Column("state", sa.String(8), nullable=False),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("verdict", sa.String(16)),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("error_code", sa.String(32)),
    sa.Column("error", sa.Text),
    sa.Column("excerpt", sa.Text),
    sa.Column("prompt_characters", sa.Integer, nullable=False),
    sa.Column("prompt_tokens", sa.BigInteger),
    sa.Column("completion_tokens", sa.BigInteger),
    sa.Column("reserved_calls", sa.Integer, nullable=False),
    sa.Column("reserved_tokens", sa.BigInteger, nullable=False),
    sa.Column("alive_until", sa.DateTime(timezone=True)),
    sa.Column("at", sa.DateTime(timezone=True), nullable=False),
)
sa.Table(
    "participant_links",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("study_id", sa.ForeignKey("studies.id"), nullable=False, index=True),
    sa.Column("participant_id", sa.ForeignKey("participants.id", ondelete="CASCADE"), index=True),
    sa.Column("token_hash", sa.String(64), nullable=False, unique=True),
    sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("withdrawn_at", sa.DateTime(timezone=True)),
)
sa.Table(
    "queries",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("run_id", sa.ForeignKey("runs.id", ondelete="CASCADE"), nullable=False),
    sa.Column("question_id", sa.ForeignKey("questions.id"), nullable=False, index=True),
    sa.Column("query_id", sa.BigInteger, nullable=False),
    sa.Column("response", sa.Text, nullable=False),
    sa.Column("state", sa.String(16), nullable=False),
    sa.Column("claimed_count", sa.BigInteger),
    sa.Column("error", sa.Text),
    sa.Column("extra", sa.JSON, nullable=False),
    sa.Column("emptiness_id", sa.ForeignKey("judged_things.id"), index=True),
    sa.UniqueConstraint("run_id", "query_id"),
)
sa.Table(
    "repeats",
    TABLES,
    sa.Column("task_id", sa.ForeignKey("tasks.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("judged_thing_id", sa.ForeignKey("judged_things.id"), primary_key=True, index=True),
    sa.Column("verdict", sa.String(16)),
    sa.Column("changed_at", sa.DateTime(timezone=True)),
)
sa.Table(
    "card_decisions",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("query_key", sa.ForeignKey("queries.id", ondelete="CASCADE"), nullable=False),
    sa.Column("card", sa.Integer, nullable=False),
    sa.Column("subject", sa.String(16), nullable=False),
    sa.Column("outcome", sa.String(8)),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("cause", sa.String(8), nullable=False),
    sa.Column("rater_id", sa.ForeignKey("raters.id"), nullable=False, index=True),
    sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    sa.Index(None, "query_key", "card", "subject"),
)
sa.Table(
    "events",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("rater_id", sa.ForeignKey("raters.id"), nullable=False),
    sa.Column("event_id", sa.String(80), nullable=False),
    sa.Column("field", sa.String(16), nullable=False),
    sa.Column("judged_thing_id", sa.ForeignKey("judged_things.id", ondelete="SET NULL")),
    sa.Column("query_key", sa.ForeignKey("queries.id", ondelete="SET NULL")),
    sa.Column("task_id", sa.ForeignKey("tasks.id", ondelete="SET NULL")),
    sa.Column("old", sa.Text),
    sa.Column("new", sa.Text),
    sa.Column("cause", sa.String(16), nullable=False),
    sa.Column("undoes_id", sa.ForeignKey("events.id"), unique=True),
    sa.Column("device", sa.String(64), nullable=False),
    sa.Column("sequence", sa.BigInteger, nullable=False),
    sa.Column("client_time", sa.DateTime(timezone=True)),
    sa.Column("received_at", sa.DateTime(timezone=True), nullable=False),
    sa.UniqueConstraint("rater_id", "event_id", "field"),
    sa.Index(None, "judged_thing_id", "rater_id"),
    _index_of("query_key", "rater_id", "field"),
    _index_of("task_id", "rater_id"),
)
sa.Table(
    "own_questions",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("participant_id", sa.ForeignKey("participants.id"), nullable=False, index=True),
    sa.Column("question_id", sa.ForeignKey("questions.id"), nullable=False, unique=True),
    sa.Column("query_key", sa.ForeignKey("queries.id"), unique=True),
    sa.Column("conversation", sa.Integer, nullable=False),
    sa.Column("session_id", sa.Text, nullable=False),
    sa.Column("state", sa.String(16), nullable=False),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("origin", sa.String(32)),
    sa.Column("turn", sa.Integer, nullable=False, server_default=sa.text("0")),
    sa.Column("put_at", sa.DateTime(timezone=True), nullable=False),
    sa.Column("alive_until", sa.DateTime(timezone=True)),
    sa.Column("answered_at", sa.DateTime(timezone=True)),
    sa.Column("closed_at", sa.DateTime(timezone=True)),
    sa.Column("error", sa.Text),
    sa.Column("error_code", sa.String(32)),
    sa.Column("excerpt", sa.Text),
    sa.Index(
        "uq_own_questions_open",
        "participant_id",
        unique=True,
        sqlite_where=sa.text("closed_at IS NULL"),
        postgresql_where=sa.text("closed_at IS NULL"),
    ),
)
sa.Table(
    "query_ratings",
    TABLES,
    sa.Column("rater_id", sa.ForeignKey("raters.id"), primary_key=True),
    sa.Column(
        "query_key", sa.ForeignKey("queries.id", ondelete="CASCADE"), primary_key=True, index=True
    ),
    sa.Column("quality", sa.Integer),
    sa.Column("notes", sa.Text, nullable=False),
    sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
)
sa.Table(
    "query_summaries",
    TABLES,
    sa.Column("rater_id", sa.ForeignKey("raters.id"), primary_key=True),
    sa.Column(
        "query_key", sa.ForeignKey("queries.id", ondelete="CASCADE"), primary_key=True, index=True
    ),
    sa.Column("run_id", sa.ForeignKey("runs.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("state", sa.String(16), nullable=False),
    sa.Column("results_count", sa.Integer, nullable=False),
    sa.Column("judged_count", sa.Integer, nullable=False),
    sa.Column("relevant_count", sa.Integer, nullable=False),
    sa.Column("not_relevant_count", sa.Integer, nullable=False),
    sa.Column("unsure_count", sa.Integer, nullable=False),
    sa.Column("first_relevant_rank", sa.Integer),
    sa.Column("open_judgments", sa.Integer, nullable=False),
    sa.Column("complete", sa.Boolean, nullable=False),
    sa.Column("empty_outcome", sa.String(16)),
    sa.Column("quality", sa.Double()),
    sa.Column("precision_at_5", sa.Double()),
    sa.Column("precision_at_5_lower", sa.Double()),
    sa.Column("precision_at_5_upper", sa.Double()),
    sa.Column("overall_precision", sa.Double()),
    sa.Column("overall_precision_lower", sa.Double()),
    sa.Column("overall_precision_upper", sa.Double()),
    sa.Column("reciprocal_rank", sa.Double()),
    sa.Column("reciprocal_rank_lower", sa.Double()),
    sa.Column("reciprocal_rank_upper", sa.Double()),
    sa.Column("answerable_reciprocal_rank", sa.Double()),
    sa.Column("answerable_reciprocal_rank_lower", sa.Double()),
    sa.Column("answerable_reciprocal_rank_upper", sa.Double()),
    sa.Column("success", sa.Double()),
    sa.Column("success_lower", sa.Double()),
    sa.Column("success_upper", sa.Double()),
    sa.Column("response_quality", sa.Double()),
    sa.Column("response_quality_lower", sa.Double()),
    sa.Column("response_quality_upper", sa.Double()),
    sa.Index(None, "rater_id", "run_id"),
)
sa.Table(
    "repeat_ratings",
    TABLES,
    sa.Column("task_id", sa.ForeignKey("tasks.id", ondelete="CASCADE"), primary_key=True),
    sa.Column(
        "query_key", sa.ForeignKey("queries.id", ondelete="CASCADE"), primary_key=True, index=True
    ),
    sa.Column("quality", sa.Integer),
    sa.Column("notes", sa.Text, nullable=False),
    sa.Column("changed_at", sa.DateTime(timezone=True)),
)
sa.Table(
    "results",
    TABLES,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("query_key", sa.ForeignKey("queries.id", ondelete="CASCADE"), nullable=False),
    sa.Column("rank", sa.Integer, nullable=False),
    sa.Column("judged_thing_id", sa.ForeignKey("judged_things.id"), nullable=False, index=True),
    sa.Column("card", sa.JSON, nullable=False),
    sa.UniqueConstraint("query_key", "rank"),
)
sa.Table(
    "wordings_opened",
    TABLES,
    sa.Column("rater_id", sa.ForeignKey("raters.id"), primary_key=True),
    sa.Column(
        "query_key", sa.ForeignKey("queries.id", ondelete="CASCADE"), primary_key=True, index=True
    ),
    sa.Column("at", sa.DateTime(timezone=True), nullable=False),
)
