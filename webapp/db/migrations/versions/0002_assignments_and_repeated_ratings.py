"""Questions assigned to raters, and quality given again in hidden repeats."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0002"
down_revision: str | None = "0001"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Bring the tables to this version."""
    op.create_table(
        "assignments",
        sa.Column("rater_id", sa.Integer(), nullable=False),
        sa.Column("question_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["question_id"],
            ["questions.id"],
            name="fk_assignments_question_id_questions",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["rater_id"], ["raters.id"], name="fk_assignments_rater_id_raters", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("rater_id", "question_id", name="pk_assignments"),
    )
    op.create_index("ix_assignments_question_id", "assignments", ["question_id"], unique=False)
    op.create_table(
        "repeat_ratings",
        sa.Column("task_id", sa.String(length=32), nullable=False),
        sa.Column("query_key", sa.Integer(), nullable=False),
        sa.Column("quality", sa.Integer(), nullable=True),
        sa.Column("notes", sa.Text(), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["query_key"],
            ["queries.id"],
            name="fk_repeat_ratings_query_key_queries",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["task_id"], ["tasks.id"], name="fk_repeat_ratings_task_id_tasks", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("task_id", "query_key", name="pk_repeat_ratings"),
    )
    op.create_index("ix_repeat_ratings_query_key", "repeat_ratings", ["query_key"], unique=False)
