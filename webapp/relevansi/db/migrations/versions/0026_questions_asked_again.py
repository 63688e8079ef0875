"""When the owner had a question asked again blind; events from files say that they are."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0026"
down_revision: str | None = "0027"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

FROM_FILES = """
UPDATE events SET cause = 'import'
WHERE cause = 'click' AND task_id IS NULL AND (rater_id, received_at) IN (
    SELECT rater_id, received_at FROM events
    WHERE cause = 'click' AND task_id IS NULL
    GROUP BY rater_id, received_at HAVING count(DISTINCT event_id) > 1
)
"""


def upgrade() -> None:
    """Bring the tables to this version; clicks of one rater never came at one microsecond."""
    op.add_column("tasks", sa.Column("asked_again_at", sa.DateTime(timezone=True), nullable=True))
    op.execute(FROM_FILES)
