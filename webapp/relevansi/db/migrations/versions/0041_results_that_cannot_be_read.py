"""A result that could not be read keeps its rank: a row without an item."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0041"
down_revision: str | None = "0040"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

# SQLite changes no column, so the table is made anew. Not by Alembic's batches: they state the
# constraints in another order each time, and restored databases are held against new ones.
ANEW = (
    """
CREATE TABLE results_anew (
    id INTEGER NOT NULL,
    query_key INTEGER NOT NULL,
    rank INTEGER NOT NULL,
    judged_thing_id INTEGER,
    card JSON NOT NULL,
    CONSTRAINT pk_results PRIMARY KEY (id),
    CONSTRAINT uq_results_query_key_rank UNIQUE (query_key, rank),
    CONSTRAINT fk_results_query_key_queries
        FOREIGN KEY(query_key) REFERENCES queries (id) ON DELETE CASCADE,
    CONSTRAINT fk_results_judged_thing_id_judged_things
        FOREIGN KEY(judged_thing_id) REFERENCES judged_things (id)
)""",
    """
INSERT INTO results_anew (id, query_key, rank, judged_thing_id, card)
SELECT id, query_key, rank, judged_thing_id, card FROM results""",
    "DROP TABLE results",
    "ALTER TABLE results_anew RENAME TO results",
    "CREATE INDEX ix_results_judged_thing_id ON results (judged_thing_id)",
)


def upgrade() -> None:
    """Bring the tables to this version."""
    if op.get_bind().dialect.name == "sqlite":
        for statement in ANEW:
            op.execute(statement)
    else:
        op.alter_column("results", "judged_thing_id", existing_type=sa.Integer(), nullable=True)
