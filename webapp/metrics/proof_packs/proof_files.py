"""The names in a proof pack: its members and their columns, for who writes and who reads it."""

from __future__ import annotations

FORMAT = "relevansi proof pack"
PACK_VERSION = 2
"""Raised whenever a member's form changes, so that an older program says it is too old."""

README = "README.md"
MANIFEST = "manifest.json"
VERDICTS = "verdicts.csv"
GUIDELINES = "guidelines.md"

RATED = "rated.csv"
RATED_BY_EACH = "raters.csv"
JUDGMENTS = "judgments.csv"
QRELS = "qrels.txt"
RUN_FILE = "run.txt"
RUN_JSON = "run.json"
FIGURES = "figures.json"

VERDICT_COLUMNS = (
    *("rater", "question_set", "position", "judged_in", "property", "content", "verdict"),
)
"""``judged_in`` is the run a verdict belongs to where the question depends on earlier turns."""


def of_table(table: str) -> str:
    """The name of the member with the rows of a table.

    >>> of_table("events")
    'study/events.json'
    """
    return f"study/{table}.json"


def of_run(run: str, member: str) -> str:
    """The name of a run's member.

    >>> of_run("0f3a", RATED)
    'runs/0f3a/rated.csv'
    """
    return f"runs/{run}/{member}"


def of_question_set(question_set: int) -> str:
    """The name of the file of a question set.

    >>> of_question_set(1)
    'questions/1.json'
    """
    return f"questions/{question_set}.json"


def of_comparison(question_set: int) -> str:
    """The name of the comparison of the runs of one question set.

    >>> of_comparison(1)
    'comparisons/1.json'
    """
    return f"comparisons/{question_set}.json"
