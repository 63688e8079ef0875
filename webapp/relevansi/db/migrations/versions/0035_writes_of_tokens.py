"""By which token a program wrote an event, changed a study or asked for a work."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0035"
down_revision: str | None = "0034"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Bring the tables to this version."""
    for table in ("events", "log_entries", "long_works"):
        op.add_column(table, sa.Column("token_id", sa.Integer()))
