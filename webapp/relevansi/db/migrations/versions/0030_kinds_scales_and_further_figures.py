"""Studies of any kind of item, on any scale of relevance, with further ranking figures."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0030"
down_revision: str | None = "0029"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Bring the tables to this version; studies that exist are binary ones of properties."""
    named = sa.Column("kind", sa.String(32), nullable=False, server_default="property")
    op.add_column("studies", named)
    for name in ("scale", "measures", "mappings"):
        op.add_column("studies", sa.Column(name, sa.JSON(none_as_null=True)))
    op.add_column("studies", sa.Column("merging", sa.String(16)))
    for table, name in (
        ("studies", "asks_quality"),
        ("studies", "marks_words"),
        ("queries", "asks_quality"),
        ("query_summaries", "asks_quality"),
    ):
        yes: sa.Column[bool] = sa.Column(
            name, sa.Boolean(), nullable=False, server_default=sa.true()
        )
        op.add_column(table, yes)
    op.add_column("questions", sa.Column("external_id", sa.Text()))
    op.add_column("query_summaries", sa.Column("further", sa.JSON(none_as_null=True)))
