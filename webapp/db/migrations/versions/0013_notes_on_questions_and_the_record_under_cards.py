"""The owner's notes on questions, and whether raters see what only a listing's record knows."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0013"
down_revision: str | None = "0012"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Bring the tables to this version."""
    # The program before this one inserts without the column, so it has a default here.
    op.add_column(
        "studies",
        sa.Column("show_record", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
    op.add_column("questions", sa.Column("note", sa.Text(), nullable=True))
