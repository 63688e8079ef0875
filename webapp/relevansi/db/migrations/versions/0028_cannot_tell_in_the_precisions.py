"""The study's setting of what a cannot-tell card is in its precisions."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0028"
down_revision: str | None = "0026"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Bring the tables to this version; studies that exist keep the figures they have."""
    op.add_column(
        "studies",
        sa.Column("cannot_tell", sa.String(16), nullable=False, server_default="left_out"),
    )
