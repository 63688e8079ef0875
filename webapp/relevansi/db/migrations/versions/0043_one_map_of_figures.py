"""The figures of a query are one map by name, instead of three columns for each of six."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0043"
down_revision: str | None = "0042"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Bring the tables to this version, with no summary of a query in them.

    They are made of judgments alone, and whoever upgrades computes them anew.
    """
    of_query = sa.ForeignKey("queries.id", ondelete="CASCADE")
    of_run = sa.ForeignKey("runs.id", ondelete="CASCADE")
    op.drop_table("query_summaries")
    op.create_table(
        "query_summaries",
        sa.Column("rater_id", sa.Integer(), sa.ForeignKey("raters.id"), nullable=False),
        sa.Column("query_key", sa.Integer(), of_query, nullable=False),
        sa.Column("run_id", sa.String(16), of_run, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        *(
            sa.Column(name, sa.Integer(), nullable=False)
            for name in (
                *("results_count", "judged_count", "relevant_count"),
                *("not_relevant_count", "unsure_count"),
            )
        ),
        sa.Column("first_relevant_rank", sa.Integer()),
        sa.Column("open_judgments", sa.Integer(), nullable=False),
        sa.Column("complete", sa.Boolean(), nullable=False),
        sa.Column("asks_quality", sa.Boolean(), server_default=sa.true(), nullable=False),
        sa.Column("figures", sa.JSON(), nullable=False),
        sa.Column("empty_outcome", sa.String(16)),
        sa.Column("quality", sa.Double()),
        sa.PrimaryKeyConstraint("rater_id", "query_key"),
    )
    # In the same order every time, which indexes of a table have not.
    for columns in (["query_key"], ["run_id"], ["rater_id", "run_id"]):
        name = "_".join(["ix_query_summaries", *columns])
        op.create_index(name, "query_summaries", columns)
