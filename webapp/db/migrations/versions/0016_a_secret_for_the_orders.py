"""Each study's secret, from which orders are drawn; tasks given before keep those of the seed."""

import secrets
from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0016"
down_revision: str | None = "0015"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Bring the tables to this version."""
    op.add_column(
        "studies", sa.Column("order_secret", sa.String(64), nullable=False, server_default="")
    )
    op.add_column(
        "tasks",
        sa.Column("keeps_seed_order", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
    studies = sa.table("studies", sa.column("id"), sa.column("order_secret"))
    connection = op.get_bind()
    for study_id in connection.scalars(sa.select(studies.c.id)).all():
        own = sa.update(studies).where(studies.c.id == study_id)
        connection.execute(own.values(order_secret=secrets.token_hex(32)))
    tasks = sa.table("tasks", sa.column("keeps_seed_order", sa.Boolean()))
    connection.execute(sa.update(tasks).values(keeps_seed_order=True))
