"""The study's switch that shows blind raters what the constraints came to on a card."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0008"
down_revision: str | None = "0007"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Bring the tables to this version."""
    # The program before this one inserts without the column, so it has a default here.
    op.add_column(
        "studies",
        sa.Column("badges_while_blind", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
