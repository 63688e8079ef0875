"""Nobody judges items of evaluations any more: what was said of them moves to the study's log."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0034"
down_revision: str | None = "0033"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

EVENTS = sa.text("""
SELECT raters.study_id, item_events.* FROM item_events
JOIN raters ON raters.id = item_events.rater_id ORDER BY item_events.id
""").columns(received_at=sa.DateTime(timezone=True))
LOG = sa.table(
    "log_entries",
    sa.column("study_id"),
    sa.column("at", sa.DateTime(timezone=True)),
    *map(sa.column, ("action", "subject", "old", "new")),
)


def upgrade() -> None:
    """Bring the tables to this version; each click on an item becomes a line of the log.

    The line's subject is the rater: who is deleted later takes the words along.
    """
    connection = op.get_bind()
    for event in connection.execute(EVENTS).mappings().all():
        place = f"evaluation {event['evaluation_id']}, item {event['position']}, {event['part']}"
        values = {name: "-" if event[name] is None else event[name] for name in ("old", "new")}
        entry = {
            "study_id": event["study_id"],
            "at": event["received_at"],
            "action": f"{event['cause']} on an item",
            "subject": f"rater {event['rater_id']}",
            "old": f"{place}: {values['old']}",
            "new": f"{place}: {values['new']}",
        }
        connection.execute(LOG.insert().values(entry))
    op.drop_table("item_judgments")
    op.drop_table("item_events")
    op.drop_column("evaluations", "for_raters")
