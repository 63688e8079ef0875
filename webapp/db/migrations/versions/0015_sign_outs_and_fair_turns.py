"""Times of signing in that were ended; who comes into phase 3 how fast, and whose turn it is."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0015"
down_revision: str | None = "0014"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Bring the tables to this version."""
    op.create_table(
        "signed_out",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_signed_out"),
    )
    op.create_index("ix_signed_out_at", "signed_out", ["at"])
    newcomers = sa.Column(
        "most_newcomers", sa.Integer(), server_default=sa.text("40"), nullable=False
    )
    op.add_column("user_studies", newcomers)
    op.add_column("own_questions", sa.Column("origin", sa.String(length=32), nullable=True))
    turn = sa.Column("turn", sa.Integer(), server_default=sa.text("0"), nullable=False)
    op.add_column("own_questions", turn)
