"""When a blind rater put a question off, to be asked it again after the others."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0012"
down_revision: str | None = "0011"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Bring the tables to this version."""
    op.add_column("tasks", sa.Column("postponed_at", sa.DateTime(timezone=True), nullable=True))
