"""Phase 3: participants, their consent, questions, links and closing questionnaire."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0003"
down_revision: str | None = "0002"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Bring the tables to this version."""
    op.create_table(
        "consent_texts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("language", sa.String(length=8), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["study_id"], ["studies.id"], name="fk_consent_texts_study_id_studies"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_consent_texts"),
        sa.UniqueConstraint(
            "study_id", "number", "language", name="uq_consent_texts_study_id_number_language"
        ),
    )
    op.create_table(
        "user_studies",
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("is_open", sa.Boolean(), nullable=False),
        sa.Column("most_questions", sa.Integer(), nullable=False),
        sa.Column("endpoint", sa.Text(), nullable=False),
        sa.Column("search_method", sa.Text(), nullable=False),
        sa.Column("llm", sa.Text(), nullable=False),
        sa.Column("api", sa.String(length=16), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("mapping", sa.Text(), nullable=False),
        sa.Column("answer_seconds", sa.Integer(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("at_once", sa.Integer(), nullable=False),
        sa.Column("pause_seconds", sa.Integer(), nullable=False),
        sa.Column("declined", sa.Integer(), nullable=False),
        sa.Column("withdrawn", sa.Integer(), nullable=False),
        sa.Column("last_number", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["study_id"], ["studies.id"], name="fk_user_studies_study_id_studies"
        ),
        sa.PrimaryKeyConstraint("study_id", name="pk_user_studies"),
    )
    op.create_table(
        "questionnaire_answers",
        sa.Column("rater_id", sa.Integer(), nullable=False),
        sa.Column("item", sa.String(length=16), nullable=False),
        sa.Column("score", sa.Integer(), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["rater_id"], ["raters.id"], name="fk_questionnaire_answers_rater_id_raters"
        ),
        sa.PrimaryKeyConstraint("rater_id", "item", name="pk_questionnaire_answers"),
    )
    op.create_table(
        "participants",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("pseudonym", sa.Text(), nullable=False),
        sa.Column("rater_id", sa.Integer(), nullable=True),
        sa.Column("run_id", sa.String(length=16), nullable=True),
        sa.Column("consent_id", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("agreed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["consent_id"], ["consent_texts.id"], name="fk_participants_consent_id_consent_texts"
        ),
        sa.ForeignKeyConstraint(
            ["rater_id"], ["raters.id"], name="fk_participants_rater_id_raters"
        ),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_participants_run_id_runs"),
        sa.ForeignKeyConstraint(
            ["study_id"], ["studies.id"], name="fk_participants_study_id_studies"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_participants"),
        sa.UniqueConstraint("rater_id", name="uq_participants_rater_id"),
        sa.UniqueConstraint("run_id", name="uq_participants_run_id"),
        sa.UniqueConstraint("study_id", "number", name="uq_participants_study_id_number"),
    )
    op.create_index("ix_participants_consent_id", "participants", ["consent_id"], unique=False)
    op.create_table(
        "participant_links",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("participant_id", sa.Integer(), nullable=True),
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("withdrawn_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["participant_id"],
            ["participants.id"],
            name="fk_participant_links_participant_id_participants",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["study_id"], ["studies.id"], name="fk_participant_links_study_id_studies"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_participant_links"),
        sa.UniqueConstraint("token_hash", name="uq_participant_links_token_hash"),
    )
    op.create_index(
        "ix_participant_links_participant_id", "participant_links", ["participant_id"], unique=False
    )
    op.create_index(
        "ix_participant_links_study_id", "participant_links", ["study_id"], unique=False
    )
    op.create_table(
        "own_questions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("participant_id", sa.Integer(), nullable=False),
        sa.Column("question_id", sa.Integer(), nullable=False),
        sa.Column("query_key", sa.Integer(), nullable=True),
        sa.Column("conversation", sa.Integer(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("put_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("alive_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("answered_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("error_code", sa.String(length=32), nullable=True),
        sa.Column("excerpt", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["participant_id"],
            ["participants.id"],
            name="fk_own_questions_participant_id_participants",
        ),
        sa.ForeignKeyConstraint(
            ["query_key"], ["queries.id"], name="fk_own_questions_query_key_queries"
        ),
        sa.ForeignKeyConstraint(
            ["question_id"], ["questions.id"], name="fk_own_questions_question_id_questions"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_own_questions"),
        sa.UniqueConstraint("query_key", name="uq_own_questions_query_key"),
        sa.UniqueConstraint("question_id", name="uq_own_questions_question_id"),
    )
    op.create_index(
        "ix_own_questions_participant_id", "own_questions", ["participant_id"], unique=False
    )
    op.create_index(
        "uq_own_questions_open",
        "own_questions",
        ["participant_id"],
        unique=True,
        sqlite_where=sa.text("closed_at IS NULL"),
        postgresql_where=sa.text("closed_at IS NULL"),
    )
