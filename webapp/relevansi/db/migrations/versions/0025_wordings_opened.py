"""Which blind raters opened which answers as their chatbots wrote them.

Until now every answer was shown so to everybody who rated it.
"""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from relevansi.db.tables.base import Moment

revision: str = "0025"
down_revision: str | None = "0024"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

SEEN = """
INSERT INTO wordings_opened (rater_id, query_key, at)
SELECT rater_id, query_key, min(received_at) FROM events
WHERE task_id IS NOT NULL AND query_key IS NOT NULL
GROUP BY rater_id, query_key
"""


def upgrade() -> None:
    """Bring the tables to this version."""
    op.create_table(
        "wordings_opened",
        sa.Column("rater_id", sa.Integer(), nullable=False),
        sa.Column("query_key", sa.Integer(), nullable=False),
        sa.Column("at", Moment(), nullable=False),
        sa.ForeignKeyConstraint(
            ["query_key"],
            ["queries.id"],
            name="fk_wordings_opened_query_key_queries",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["rater_id"], ["raters.id"], name="fk_wordings_opened_rater_id_raters"
        ),
        sa.PrimaryKeyConstraint("rater_id", "query_key", name="pk_wordings_opened"),
    )
    op.execute(SEEN)
    op.create_index("ix_wordings_opened_query_key", "wordings_opened", ["query_key"])
