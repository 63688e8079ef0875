"""Rules by effect, which nobody could choose since 1.1.0, move to the study's log."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision: str = "0040"
down_revision: str | None = "0039"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

GONE = sa.text("SELECT * FROM planning_rules WHERE kind = 'by_effect' ORDER BY id").columns(
    chosen_at=sa.DateTime(timezone=True), ended_at=sa.DateTime(timezone=True)
)
LOG = sa.table(
    "log_entries",
    sa.column("study_id"),
    sa.column("at", sa.DateTime(timezone=True)),
    *map(sa.column, ("action", "subject", "old", "new")),
)


def upgrade() -> None:
    """Bring the tables to this version; such a rule drew no questions."""
    connection = op.get_bind()
    for rule in connection.execute(GONE).mappings().all():
        named = ("seed", "rater_id", "verdicts_before", "verdicts_at_end", "outcome")
        moments = {
            name: rule[name] and rule[name].isoformat() for name in ("chosen_at", "ended_at")
        }
        entry = {
            "study_id": rule["study_id"],
            "at": datetime.now(UTC),
            "action": "forget rating rule",
            "subject": f"question set {rule['question_set_id']}, rule {rule['id']}",
            "old": json.dumps({"kind": "by_effect", **{n: rule[n] for n in named}, **moments}),
            "new": None,
        }
        connection.execute(LOG.insert().values(entry))
    op.execute("DELETE FROM planning_rules WHERE kind = 'by_effect'")
