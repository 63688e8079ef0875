"""The index from a run to its judged items holds only those that depend on a run."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0046"
down_revision: str | None = "0045"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Bring the tables to this version."""
    depends = sa.text("run_id IS NOT NULL")
    op.drop_index("ix_judged_items_run_id", "judged_items")
    op.create_index(
        "ix_judged_items_run_id",
        "judged_items",
        ["run_id"],
        sqlite_where=depends,
        postgresql_where=depends,
    )
