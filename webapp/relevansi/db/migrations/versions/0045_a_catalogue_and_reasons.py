"""A catalogue to look things up in, the searches in it, evidence, and reasons of verdicts."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from relevansi.db.tables.base import Moment

revision: str = "0045"
down_revision: str | None = "0044"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

REFERENCES = (
    ("rater_id", "raters", None),
    ("question_id", "questions", None),
    ("query_key", "queries", "SET NULL"),
    ("task_id", "tasks", "SET NULL"),
)


def upgrade() -> None:
    """Bring the tables to this version."""
    op.create_table(
        "catalogue_items",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("identity", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("card", sa.JSON(), nullable=False),
        sa.Column("is_imported", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("type", sa.Text()),
        sa.Column("offer", sa.String(8)),
        sa.Column("price", sa.BigInteger()),
        sa.Column("bedrooms", sa.Integer()),
        sa.PrimaryKeyConstraint("id", name="pk_catalogue_items"),
        sa.UniqueConstraint("identity", name="uq_catalogue_items_identity"),
    )
    op.create_table(
        "searches",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("rater_id", sa.Integer(), nullable=False),
        sa.Column("question_id", sa.Integer(), nullable=False),
        sa.Column("query_key", sa.Integer()),
        sa.Column("task_id", sa.String(32)),
        sa.Column("words", sa.Text(), nullable=False),
        sa.Column("filters", sa.JSON(), nullable=False),
        sa.Column("item_count", sa.Integer(), nullable=False),
        sa.Column("at", Moment(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_searches"),
        *(
            sa.ForeignKeyConstraint(
                [column],
                [f"{table}.id"],
                name=f"fk_searches_{column}_{table}",
                ondelete=ondelete,
            )
            for column, table, ondelete in REFERENCES
        ),
    )
    for column, _, _ in REFERENCES:
        op.create_index(f"ix_searches_{column}", "searches", [column])
    words_index = WORDS_INDEX[op.get_bind().dialect.name]
    for statement in words_index:
        op.execute(statement)
    op.add_column("judgments", sa.Column("reason", sa.Text()))
    op.add_column(
        "judgments",
        sa.Column("is_evidence", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
    op.add_column("studies", sa.Column("reasons", sa.JSON()))
    op.add_column(
        "studies",
        sa.Column("looks_up", sa.Boolean(), nullable=False, server_default=sa.true()),
    )
    for name in ("looks_up_in_phase_3", "looks_up_constraints"):
        op.add_column(
            "studies", sa.Column(name, sa.Boolean(), nullable=False, server_default=sa.false())
        )


# The index of SQLite reads its texts from the table and is filled by 'rebuild', or row by row.
WORDS_INDEX = {
    "sqlite": [
        """\
CREATE VIRTUAL TABLE catalogue_words USING fts5(
    text, content='catalogue_items', content_rowid='id',
    tokenize='unicode61 remove_diacritics 2', prefix='2 3'
)""",
    ],
    "postgresql": [
        """\
ALTER TABLE catalogue_items ADD COLUMN words tsvector
    GENERATED ALWAYS AS (to_tsvector('simple', text)) STORED""",
        "CREATE INDEX ix_catalogue_items_words ON catalogue_items USING gin (words)",
    ],
}
