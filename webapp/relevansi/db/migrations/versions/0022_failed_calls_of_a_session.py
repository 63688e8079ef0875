"""A machine judge's session counts the calls that failed in it."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0022"
down_revision: str | None = "0021"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

COUNTED = """
UPDATE machine_sessions SET failed = (
    SELECT count(*) FROM machine_calls
    WHERE machine_calls.session_id = machine_sessions.id AND machine_calls.state = 'failed'
)
"""


def upgrade() -> None:
    """Bring the tables to this version; a card that was asked again meanwhile is not counted."""
    op.add_column(
        "machine_sessions", sa.Column("failed", sa.Integer(), nullable=False, server_default="0")
    )
    op.execute(COUNTED)
