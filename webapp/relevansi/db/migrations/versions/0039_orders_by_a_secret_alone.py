"""Orders come from a study's secret alone: no task of a release was given by a seed."""

from collections.abc import Sequence

from alembic import op

revision: str = "0039"
down_revision: str | None = "0038"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Bring the tables to this version."""
    op.drop_column("tasks", "keeps_seed_order")
    op.drop_column("studies", "order_seed")
