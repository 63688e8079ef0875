"""Machine judges are limited by calls alone, and asked in English alone."""

from collections.abc import Sequence
from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision: str = "0038"
down_revision: str | None = "0037"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

LIMITED = sa.text("""
SELECT raters.study_id, raters.id AS rater_id, machine_sessions.id, machine_sessions.most_tokens
FROM machine_sessions JOIN raters ON raters.id = machine_sessions.rater_id
WHERE machine_sessions.most_tokens IS NOT NULL ORDER BY machine_sessions.id
""")
STOPPED = sa.text("""
UPDATE machine_sessions SET state = 'stopped', ended_at = :now WHERE ended_at IS NULL AND (
    most_tokens IS NOT NULL
    OR rater_id IN (SELECT rater_id FROM machine_judges WHERE language <> 'en')
)
""").bindparams(sa.bindparam("now", type_=sa.DateTime(timezone=True)))
LOG = sa.table(
    "log_entries",
    sa.column("study_id"),
    sa.column("at", sa.DateTime(timezone=True)),
    *map(sa.column, ("action", "subject", "old", "new")),
)


def upgrade() -> None:
    """Bring the tables to this version; what can no longer be held to is stopped and logged."""
    connection, now = op.get_bind(), datetime.now(UTC)
    for limited in connection.execute(LIMITED).mappings().all():
        entry = {
            "study_id": limited["study_id"],
            "at": now,
            "action": "limit of machine judge",
            "subject": f"rater {limited['rater_id']}",
            "old": f"session {limited['id']}: {limited['most_tokens']} tokens",
            "new": None,
        }
        connection.execute(LOG.insert().values(entry))
    connection.execute(STOPPED, {"now": now})
    op.drop_column("machine_sessions", "most_tokens")
    op.drop_column("machine_calls", "reserved_tokens")
