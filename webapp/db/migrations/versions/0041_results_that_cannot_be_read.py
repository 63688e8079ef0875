"""A result that could not be read keeps its rank: a row without an item."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0041"
down_revision: str | None = "0040"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

# As it is, since SQLite makes the table anew: what it says of itself is not all read back.
RESULTS = sa.Table(
    "results",
    sa.MetaData(),
    sa.Column("id", sa.Integer, nullable=False),
    sa.Column("query_key", sa.Integer, nullable=False),
    sa.Column("rank", sa.Integer, nullable=False),
    sa.Column("judged_thing_id", sa.Integer, nullable=False),
    sa.Column("card", sa.JSON, nullable=False),
    sa.PrimaryKeyConstraint("id", name="pk_results"),
    sa.ForeignKeyConstraint(
        ["query_key"], ["queries.id"], "fk_results_query_key_queries", ondelete="CASCADE"
    ),
    sa.ForeignKeyConstraint(
        ["judged_thing_id"], ["judged_things.id"], "fk_results_judged_thing_id_judged_things"
    ),
    sa.UniqueConstraint("query_key", "rank", name="uq_results_query_key_rank"),
    sa.Index("ix_results_judged_thing_id", "judged_thing_id"),
)


def upgrade() -> None:
    """Bring the tables to this version."""
    with op.batch_alter_table("results", copy_from=RESULTS) as results:
        results.alter_column("judged_thing_id", existing_type=sa.Integer(), nullable=True)
