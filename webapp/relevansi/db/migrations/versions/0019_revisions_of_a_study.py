"""A study's revision, by which what was summed up between two clicks is known to be of today."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0019"
down_revision: str | None = "0018"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Bring the tables to this version."""
    op.add_column(
        "studies", sa.Column("revision", sa.String(32), nullable=False, server_default="")
    )
