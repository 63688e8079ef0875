"""The order in which runs came in, which is that of their file."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0036"
down_revision: str | None = "0035"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

NUMBERED = sa.text("""
UPDATE runs SET sequence = (
    SELECT count(*) FROM runs AS earlier WHERE earlier.study_id = runs.study_id AND (
        earlier.imported_at < runs.imported_at
        OR (earlier.imported_at = runs.imported_at AND earlier.id <= runs.id)
    )
)
""")


def upgrade() -> None:
    """Bring the tables to this version; runs of one moment keep the order that they had."""
    op.add_column("runs", sa.Column("sequence", sa.Integer(), server_default="0", nullable=False))
    op.execute(NUMBERED)
