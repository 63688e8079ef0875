"""What was read of a file that waits to be imported; one that waits already is read again."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0031"
down_revision: str | None = "0030"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Bring the tables to this version."""
    op.add_column("uploads", sa.Column("format", sa.String(16)))
    op.add_column(
        "uploads", sa.Column("questions", sa.Integer(), server_default="0", nullable=False)
    )
    op.add_column("uploads", sa.Column("report", sa.LargeBinary()))
