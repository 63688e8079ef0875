"""The names in a proof pack that those who write one and those who read one share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FORMAT = "relevansi proof pack"
PACK_VERSION = 2
"""Raised whenever a member's form changes, so that an older program says it is too old."""

README = "README.md"
MANIFEST = "manifest.json"
VERDICTS = "verdicts.csv"
FIGURES_FILE = "figures.json"

VERDICT_COLUMNS = (
    *("rater", "question_set", "position", "judged_in", "property", "content", "verdict"),
    *("reason", "evidence"),
)
"""``judged_in`` is the run a verdict belongs to where the question depends on earlier turns.

``reason`` says why it is not relevant; ``evidence`` is 1 of what the rater looked up and pinned.
"""


# Tables and columns that have other names in the database since 2.0.0: packs keep theirs.
_PACKED_TABLES = {"judged_items": "judged_things", "items": "properties"}
_PACKED_COLUMNS = {"judged_item_id": "judged_thing_id", "item_id": "property_id"}
_COLUMNS = {packed: column for column, packed in _PACKED_COLUMNS.items()}


def of_table(table: str) -> str:
    """Return the name of the member with the rows of a table.

    >>> of_table("events"), of_table("items")
    ('study/events.json', 'study/properties.json')
    """
    return f"study/{_PACKED_TABLES.get(table, table)}.json"


def to_pack(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of the database under the names that a pack has."""
    return {_PACKED_COLUMNS.get(name, name): value for name, value in row.items()}


def from_pack(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of a pack under the names that the database has."""
    return {_COLUMNS.get(name, name): value for name, value in row.items()}


def of_run(run: str, member: str) -> str:
    """Return the name of a run's member.

    >>> of_run("0f3a", FIGURES_FILE)
    'runs/0f3a/figures.json'
    """
    return f"runs/{run}/{member}"
