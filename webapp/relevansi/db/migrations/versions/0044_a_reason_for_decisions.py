"""Whether a decision on a disagreement needs a reason is a setting of the study."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0044"
down_revision: str | None = "0043"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Bring the tables to this version."""
    column: sa.Column[bool] = sa.Column(
        "reason_required", sa.Boolean(), nullable=False, server_default=sa.false()
    )
    op.add_column("studies", column)
