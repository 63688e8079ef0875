"""Rules by effect and samples that grow are ended: neither can be followed any more."""

import secrets
from collections.abc import Sequence
from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision: str = "0029"
down_revision: str | None = "0028"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

GONE = ("by_effect", "sequence")

RULES = sa.table(
    "planning_rules",
    *map(sa.column, ("id", "study_id", "question_set_id", "kind", "seed")),
    sa.column("ended_at", sa.DateTime(timezone=True)),
    *map(sa.column, ("verdicts_at_end", "outcome")),
)
LOG = sa.table(
    "log_entries",
    sa.column("study_id"),
    sa.column("at", sa.DateTime(timezone=True)),
    *map(sa.column, ("action", "subject", "old", "new")),
)
STUDIES = sa.table("studies", sa.column("id"), sa.column("revision"))
VERDICTS = sa.text("""
SELECT count(*) FROM judgments
JOIN raters ON raters.id = judgments.rater_id
JOIN judged_things ON judged_things.id = judgments.judged_thing_id
JOIN questions ON questions.id = judged_things.question_id
WHERE questions.question_set_id = :set AND judgments.verdict IS NOT NULL AND NOT raters.is_machine
""")


def upgrade() -> None:
    """Bring the tables to this version; what was judged under such a rule stays."""
    connection, now = op.get_bind(), datetime.now(UTC)
    running = sa.select(RULES).where(RULES.c.ended_at.is_(None), RULES.c.kind.in_(GONE))
    for rule in connection.execute(running.order_by(RULES.c.id)).all():
        verdicts = connection.scalar(VERDICTS, {"set": rule.question_set_id})
        ended = {"ended_at": now, "verdicts_at_end": verdicts, "outcome": "retired"}
        connection.execute(RULES.update().where(RULES.c.id == rule.id).values(ended))
        entry = {
            "study_id": rule.study_id,
            "at": now,
            "action": "set rating rule",
            "subject": f"question set {rule.question_set_id}, rule {rule.id}, seed {rule.seed}",
            "old": rule.kind,
            "new": None,
        }
        connection.execute(LOG.insert().values(entry))
        anew = STUDIES.update().where(STUDIES.c.id == rule.study_id)
        connection.execute(anew.values(revision=secrets.token_hex(16)))
