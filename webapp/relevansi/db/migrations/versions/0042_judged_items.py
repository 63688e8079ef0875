"""What is judged is called an item, whatever its kind: tables, columns, indexes, constraints."""

from collections.abc import Iterator, Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0042"
down_revision: str | None = "0041"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

# No table is made anew: references follow a rename on both databases, while on SQLite dropping a
# table that others refer to would first delete its rows, and with them what hangs on them.
RENAMES = (
    "ALTER TABLE properties RENAME TO items",
    "ALTER TABLE judged_things RENAME TO judged_items",
    "ALTER TABLE judged_items RENAME COLUMN property_id TO item_id",
    *(
        f"ALTER TABLE {table} RENAME COLUMN judged_thing_id TO judged_item_id"
        for table in (
            *("results", "judgments", "adjudications"),
            *("events", "repeats", "machine_calls"),
        )
    ),
    "ALTER TABLE machine_sessions RENAME COLUMN things TO judged_items",
)
WORDS = (("judged_thing", "judged_item"), ("property_id", "item_id"), ("properties", "items"))
SQLITE_INDEXES = "SELECT name, sql FROM sqlite_master WHERE sql LIKE 'CREATE%INDEX%'"
POSTGRES_CONSTRAINTS = """
SELECT conname, conrelid::regclass FROM pg_constraint
WHERE connamespace = current_schema()::regnamespace AND conrelid <> 0
"""
POSTGRES_RELATIONS = """
SELECT relname, CASE relkind WHEN 'i' THEN 'INDEX' ELSE 'SEQUENCE' END FROM pg_class
WHERE relkind IN ('i', 'S') AND relnamespace = current_schema()::regnamespace
"""


def upgrade() -> None:
    """Bring the tables to this version.

    SQLite cannot rename constraints, and nothing there goes by their names: they keep them.
    """
    for rename in RENAMES:
        op.execute(rename)
    if op.get_bind().dialect.name == "sqlite":
        for name, new_name, definition in _renamed(SQLITE_INDEXES):
            op.execute(f"DROP INDEX {name}")
            op.execute(definition.replace(name, new_name))
    else:
        for name, new_name, table in _renamed(POSTGRES_CONSTRAINTS):
            op.execute(f"ALTER TABLE {table} RENAME CONSTRAINT {name} TO {new_name}")
        # After the constraints, which take the indexes that are theirs along.
        for name, new_name, kind in _renamed(POSTGRES_RELATIONS):
            op.execute(f"ALTER {kind} {name} RENAME TO {new_name}")


def _renamed(query: str) -> Iterator[tuple[str, str, str]]:
    """Yield the old and the new name of each row whose name changes, with its other column."""
    for name, other in op.get_bind().execute(sa.text(query)).all():
        new_name = name
        for old, new in WORDS:
            new_name = new_name.replace(old, new)
        if new_name != name:
            yield name, new_name, other
