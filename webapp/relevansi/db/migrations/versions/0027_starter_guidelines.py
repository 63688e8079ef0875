"""Whether raters go by the starter guidelines; studies that are there keep what they have."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0027"
down_revision: str | None = "0025"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Bring the tables to this version."""
    op.add_column(
        "studies",
        sa.Column("starter_guidelines", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
