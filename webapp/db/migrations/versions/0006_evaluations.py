"""Evaluations: files scored automatically, their items, and what people say of them."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0006"
down_revision: str | None = "0005"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Bring the tables to this version."""
    op.create_table(
        "evaluations",
        sa.Column("id", sa.String(length=16), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("files", sa.JSON(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("provenance", sa.JSON(), nullable=False),
        sa.Column("head", sa.JSON(), nullable=False),
        sa.Column("figures", sa.JSON(), nullable=False),
        sa.Column("problems", sa.JSON(), nullable=False),
        sa.Column("n_problems", sa.Integer(), nullable=False),
        sa.Column("n_items", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["study_id"], ["studies.id"], name="fk_evaluations_study_id_studies"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_evaluations"),
        sa.UniqueConstraint("study_id", "sha256", name="uq_evaluations_study_id_sha256"),
    )
    op.create_table(
        "evaluation_items",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("evaluation_id", sa.String(length=16), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Text(), nullable=False),
        sa.Column("row", sa.JSON(), nullable=False),
        sa.Column("result", sa.JSON(), nullable=False),
        sa.Column("parts", sa.JSON(), nullable=False),
        sa.Column("failed", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["evaluation_id"],
            ["evaluations.id"],
            name="fk_evaluation_items_evaluation_id_evaluations",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_evaluation_items"),
        sa.UniqueConstraint(
            "evaluation_id", "position", name="uq_evaluation_items_evaluation_id_position"
        ),
    )
    op.create_index(
        "ix_evaluation_items_evaluation_id_failed_position",
        "evaluation_items",
        ["evaluation_id", "failed", "position"],
        unique=False,
    )
    op.create_table(
        "item_events",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("rater_id", sa.Integer(), nullable=False),
        sa.Column("event_id", sa.String(length=80), nullable=False),
        sa.Column("evaluation_id", sa.String(length=16), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("item_key", sa.Integer(), nullable=True),
        sa.Column("part", sa.String(length=40), nullable=False),
        sa.Column("old", sa.Integer(), nullable=True),
        sa.Column("new", sa.Integer(), nullable=True),
        sa.Column("cause", sa.String(length=16), nullable=False),
        sa.Column("undoes_id", sa.Integer(), nullable=True),
        sa.Column("device", sa.String(length=64), nullable=False),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column("client_time", sa.DateTime(timezone=True), nullable=True),
        sa.Column("received_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["item_key"],
            ["evaluation_items.id"],
            name="fk_item_events_item_key_evaluation_items",
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(["rater_id"], ["raters.id"], name="fk_item_events_rater_id_raters"),
        sa.ForeignKeyConstraint(
            ["undoes_id"], ["item_events.id"], name="fk_item_events_undoes_id_item_events"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_item_events"),
        sa.UniqueConstraint("rater_id", "event_id", name="uq_item_events_rater_id_event_id"),
        sa.UniqueConstraint("undoes_id", name="uq_item_events_undoes_id"),
    )
    op.create_index("ix_item_events_item_key", "item_events", ["item_key"], unique=False)
    op.create_index(
        "ix_item_events_rater_id_evaluation_id",
        "item_events",
        ["rater_id", "evaluation_id"],
        unique=False,
    )
    op.create_table(
        "item_judgments",
        sa.Column("rater_id", sa.Integer(), nullable=False),
        sa.Column("item_key", sa.Integer(), nullable=False),
        sa.Column("part", sa.String(length=40), nullable=False),
        sa.Column("value", sa.Integer(), nullable=True),
        sa.Column("agrees", sa.Boolean(), nullable=True),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["item_key"],
            ["evaluation_items.id"],
            name="fk_item_judgments_item_key_evaluation_items",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["rater_id"], ["raters.id"], name="fk_item_judgments_rater_id_raters"
        ),
        sa.PrimaryKeyConstraint("rater_id", "item_key", "part", name="pk_item_judgments"),
    )
    op.create_index("ix_item_judgments_item_key", "item_judgments", ["item_key"], unique=False)
