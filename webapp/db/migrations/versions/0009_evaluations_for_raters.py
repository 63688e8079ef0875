"""Evaluations that the owner opened to raters."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0009"
down_revision: str | None = "0008"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Bring the tables to this version."""
    # The program before this one inserts without the column, so it has a default here.
    op.add_column(
        "evaluations",
        sa.Column("for_raters", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
