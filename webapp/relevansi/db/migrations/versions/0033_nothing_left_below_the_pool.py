"""Cards below the depth of a study's pool are no longer counted as verdicts still to give."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0033"
down_revision: str | None = "0032"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

LIMITED = sa.text("SELECT id, pool_depth FROM studies WHERE pool_depth IS NOT NULL ORDER BY id")
ANEW = sa.text("""
UPDATE query_summaries SET open_judgments = (
    SELECT count(DISTINCT results.judged_thing_id) FROM results
    LEFT JOIN judgments ON judgments.judged_thing_id = results.judged_thing_id
        AND judgments.rater_id = query_summaries.rater_id
    WHERE results.query_key = query_summaries.query_key AND results.rank <= :pool_depth
        AND judgments.verdict IS NULL
) + (
    SELECT count(*) FROM queries WHERE queries.id = query_summaries.query_key
        AND queries.emptiness_id IS NOT NULL AND query_summaries.empty_outcome IS NULL
) WHERE run_id IN (SELECT id FROM runs WHERE study_id = :id)
""")


def upgrade() -> None:
    """Bring what is kept of studies with a limited pool to this version."""
    connection = op.get_bind()
    for study in connection.execute(LIMITED).mappings().all():
        connection.execute(ANEW, dict(study))
