"""Gold questions in versions, and what people decided on the cards they are checked on."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0005"
down_revision: str | None = "0004"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Bring the tables to this version."""
    op.create_table(
        "gold_versions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("question_set_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("document", sa.JSON(), nullable=False),
        sa.Column("rater_id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["question_set_id"],
            ["question_sets.id"],
            name="fk_gold_versions_question_set_id_question_sets",
        ),
        sa.ForeignKeyConstraint(
            ["rater_id"], ["raters.id"], name="fk_gold_versions_rater_id_raters"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_gold_versions"),
    )
    op.create_index(
        "ix_gold_versions_question_set_id", "gold_versions", ["question_set_id"], unique=False
    )
    op.create_index("ix_gold_versions_rater_id", "gold_versions", ["rater_id"], unique=False)
    op.create_table(
        "card_decisions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("query_key", sa.Integer(), nullable=False),
        sa.Column("card", sa.Integer(), nullable=False),
        sa.Column("subject", sa.String(length=16), nullable=False),
        sa.Column("outcome", sa.String(length=8), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("cause", sa.String(length=8), nullable=False),
        sa.Column("rater_id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["query_key"],
            ["queries.id"],
            name="fk_card_decisions_query_key_queries",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["rater_id"], ["raters.id"], name="fk_card_decisions_rater_id_raters"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_card_decisions"),
    )
    op.create_index(
        "ix_card_decisions_query_key_card_subject",
        "card_decisions",
        ["query_key", "card", "subject"],
        unique=False,
    )
    op.create_index("ix_card_decisions_rater_id", "card_decisions", ["rater_id"], unique=False)
