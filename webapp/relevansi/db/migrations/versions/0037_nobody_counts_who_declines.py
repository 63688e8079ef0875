"""People who decline to take part in phase 3 are no longer counted: an earlier count is logged."""

from collections.abc import Sequence
from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision: str = "0037"
down_revision: str | None = "0036"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

COUNTED = sa.text("SELECT study_id, declined FROM user_studies WHERE declined > 0")
LOG = sa.table(
    "log_entries",
    sa.column("study_id"),
    sa.column("at", sa.DateTime(timezone=True)),
    *map(sa.column, ("action", "subject", "old", "new")),
)


def upgrade() -> None:
    """Bring the tables to this version."""
    connection = op.get_bind()
    for phase in connection.execute(COUNTED).mappings().all():
        entry = {
            "study_id": phase["study_id"],
            "at": datetime.now(UTC),
            "action": "phase 3 declined",
            "subject": "counted until now",
            "old": None,
            "new": str(phase["declined"]),
        }
        connection.execute(LOG.insert().values(entry))
    op.drop_column("user_studies", "declined")
