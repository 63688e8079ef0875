"""The names in a proof pack that those who write one and those who read one share."""

from __future__ import annotations

FORMAT = "relevansi proof pack"
PACK_VERSION = 2
"""Raised whenever a member's form changes, so that an older program says it is too old."""

README = "README.md"
MANIFEST = "manifest.json"
VERDICTS = "verdicts.csv"
FIGURES_FILE = "figures.json"

VERDICT_COLUMNS = (
    *("rater", "question_set", "position", "judged_in", "property", "content", "verdict"),
)
"""``judged_in`` is the run a verdict belongs to where the question depends on earlier turns."""


def of_table(table: str) -> str:
    """Return the name of the member with the rows of a table.

    >>> of_table("events")
    'study/events.json'
    """
    return f"study/{table}.json"


def of_run(run: str, member: str) -> str:
    """Return the name of a run's member.

    >>> of_run("0f3a", FIGURES_FILE)
    'runs/0f3a/figures.json'
    """
    return f"runs/{run}/{member}"
