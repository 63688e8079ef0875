"""The events of the closing questionnaire, and the rows that hold its answers."""

from __future__ import annotations

from webapp.db.tables.phase_3 import QuestionnaireAnswer
from webapp.records import COMMENTS, USABILITY_ITEMS

FIELDS = frozenset((*USABILITY_ITEMS, *COMMENTS))
TABLE = QuestionnaireAnswer


def said(field: str, new: str | None) -> dict[str, object]:
    """Return the values of an answer's row, by column."""
    if field in USABILITY_ITEMS:
        return {"score": int(new) if new else None, "text": ""}
    return {"score": None, "text": new or ""}
