"""Machine judges: raters that are no people, their sessions and every call they made."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0007"
down_revision: str | None = "0006"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Bring the tables to this version."""
    # The program before this one inserts without the column, so it has a default here.
    op.add_column(
        "raters", sa.Column("is_machine", sa.Boolean(), nullable=False, server_default=sa.false())
    )
    op.create_table(
        "machine_judges",
        sa.Column("rater_id", sa.Integer(), nullable=False),
        sa.Column("endpoint", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("language", sa.String(length=8), nullable=False),
        sa.Column("prompt", sa.Text(), nullable=False),
        sa.Column("prompt_sha256", sa.String(length=64), nullable=False),
        sa.Column("temperature", sa.Double(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("released_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["rater_id"], ["raters.id"], name="fk_machine_judges_rater_id_raters"
        ),
        sa.PrimaryKeyConstraint("rater_id", name="pk_machine_judges"),
    )
    op.create_table(
        "machine_sessions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("rater_id", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("things", sa.Integer(), nullable=False),
        sa.Column("estimated_prompt_tokens", sa.BigInteger(), nullable=False),
        sa.Column("estimated_completion_tokens", sa.BigInteger(), nullable=False),
        sa.Column("prompt_price", sa.Double(), nullable=True),
        sa.Column("completion_price", sa.Double(), nullable=True),
        sa.Column("currency", sa.String(length=8), nullable=False),
        sa.Column("most_calls", sa.Integer(), nullable=True),
        sa.Column("most_tokens", sa.BigInteger(), nullable=True),
        sa.Column("at_once", sa.Integer(), nullable=False),
        sa.Column("calls", sa.Integer(), nullable=False),
        sa.Column("prompt_tokens", sa.BigInteger(), nullable=False),
        sa.Column("completion_tokens", sa.BigInteger(), nullable=False),
        sa.Column("uncounted", sa.Integer(), nullable=False),
        sa.Column("failed_in_a_row", sa.Integer(), nullable=False),
        sa.Column("why", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["rater_id"], ["raters.id"], name="fk_machine_sessions_rater_id_raters"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_machine_sessions"),
    )
    op.create_index("ix_machine_sessions_rater_id", "machine_sessions", ["rater_id"], unique=False)
    op.create_index(
        "uq_machine_sessions_open",
        "machine_sessions",
        ["rater_id"],
        unique=True,
        sqlite_where=sa.text("ended_at IS NULL"),
        postgresql_where=sa.text("ended_at IS NULL"),
    )
    op.create_table(
        "machine_calls",
        sa.Column("rater_id", sa.Integer(), nullable=False),
        sa.Column("judged_thing_id", sa.Integer(), nullable=False),
        sa.Column("session_id", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("verdict", sa.String(length=16), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("error_code", sa.String(length=32), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("excerpt", sa.Text(), nullable=True),
        sa.Column("prompt_characters", sa.Integer(), nullable=False),
        sa.Column("prompt_tokens", sa.BigInteger(), nullable=True),
        sa.Column("completion_tokens", sa.BigInteger(), nullable=True),
        sa.Column("reserved_calls", sa.Integer(), nullable=False),
        sa.Column("reserved_tokens", sa.BigInteger(), nullable=False),
        sa.Column("alive_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["judged_thing_id"],
            ["judged_things.id"],
            name="fk_machine_calls_judged_thing_id_judged_things",
        ),
        sa.ForeignKeyConstraint(
            ["rater_id"], ["raters.id"], name="fk_machine_calls_rater_id_raters"
        ),
        sa.ForeignKeyConstraint(
            ["session_id"],
            ["machine_sessions.id"],
            name="fk_machine_calls_session_id_machine_sessions",
        ),
        sa.PrimaryKeyConstraint("rater_id", "judged_thing_id", name="pk_machine_calls"),
    )
    op.create_index(
        "ix_machine_calls_judged_thing_id", "machine_calls", ["judged_thing_id"], unique=False
    )
    op.create_index("ix_machine_calls_session_id", "machine_calls", ["session_id"], unique=False)
