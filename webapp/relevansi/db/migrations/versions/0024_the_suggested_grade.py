"""Whether raters are offered a grade that follows from their verdicts."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0024"
down_revision: str | None = "0022"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Bring the tables to this version."""
    op.add_column("studies", sa.Column("suggest_quality", sa.Boolean(), nullable=True))
