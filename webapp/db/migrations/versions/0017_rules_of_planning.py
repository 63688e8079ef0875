"""Rules by which a study decides how much is judged, and the questions drawn by them."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0017"
down_revision: str | None = "0016"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Bring the tables to this version."""
    op.create_table(
        "planning_rules",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("question_set_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("seed", sa.BigInteger(), nullable=False),
        sa.Column("verdicts_before", sa.Integer(), nullable=False),
        sa.Column("rater_id", sa.Integer(), nullable=False),
        sa.Column("chosen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("verdicts_at_end", sa.Integer(), nullable=True),
        sa.Column("outcome", sa.String(length=16), nullable=True),
        sa.ForeignKeyConstraint(
            ["question_set_id"],
            ["question_sets.id"],
            name="fk_planning_rules_question_set_id_question_sets",
        ),
        sa.ForeignKeyConstraint(
            ["rater_id"], ["raters.id"], name="fk_planning_rules_rater_id_raters"
        ),
        sa.ForeignKeyConstraint(
            ["study_id"], ["studies.id"], name="fk_planning_rules_study_id_studies"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_planning_rules"),
    )
    for columns in (["question_set_id"], ["rater_id"], ["study_id", "id"]):
        op.create_index(f"ix_planning_rules_{'_'.join(columns)}", "planning_rules", columns)
    op.create_table(
        "sampled_questions",
        sa.Column("rule_id", sa.Integer(), nullable=False),
        sa.Column("question_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("stratum", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["question_id"], ["questions.id"], name="fk_sampled_questions_question_id_questions"
        ),
        sa.ForeignKeyConstraint(
            ["rule_id"], ["planning_rules.id"], name="fk_sampled_questions_rule_id_planning_rules"
        ),
        sa.PrimaryKeyConstraint("rule_id", "question_id", name="pk_sampled_questions"),
    )
    op.create_index(
        "ix_sampled_questions_rule_id_position", "sampled_questions", ["rule_id", "position"]
    )
